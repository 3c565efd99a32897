// POST /api/v1/messages/count_tokens: the input tokens that a message would be held for, without an upstream and for free.
import type { Lifecycle, ServerRoute } from '@hapi/hapi';
import { modelsFor } from '../../calls/text/choice.ts';
import { estimateInput } from '../../calls/text/estimate.ts';
import { letGo } from '../../calls/text/pictures.ts';
import { getKeyHolder } from '../auth.ts';
import { type PaidRequest, paidRoute } from '../paid-route.ts';
import type { Services } from '../services.ts';
import { readTextBody } from '../text-body.ts';

/** Counts towards the rate limit of paid calls: estimating a long text is work, too. */
export function countTokensRoute(services: Services): ServerRoute {
  return paidRoute('/api/v1/messages/count_tokens', services, count, { takesIdempotencyKey: false });
}

/** Linked images are not fetched: each counts the same. */
async function count(paid: PaidRequest): Promise<Lifecycle.ReturnValueTypes> {
  const { request, services } = paid;
  const parsed = await readTextBody(paid, { format: 'message' });
  try {
    modelsFor(services.catalog(), parsed, getKeyHolder(request).limits);
    const { tokensHeld } = parsed.input ?? (await estimateInput(parsed));
    return { input_tokens: tokensHeld };
  } finally {
    letGo(parsed);
  }
}
