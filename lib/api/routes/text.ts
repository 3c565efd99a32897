// The two text endpoints: the same handler over two dialects.
import type { Lifecycle, Request, ServerRoute } from '@hapi/hapi';
import type { CallContext } from '../../calls/context.ts';
import { modelsFor } from '../../calls/text/choice.ts';
import { collectReply } from '../../calls/text/collect.ts';
import { estimateInput } from '../../calls/text/estimate.ts';
import type { TextOutput } from '../../calls/text/output.ts';
import { bytesOf, fetchPictures, letGo } from '../../calls/text/pictures.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import { SMALL_BYTES } from '../../http/memory-quota.ts';
import { commonHeaders } from '../../http/reply.ts';
import { getRequestState } from '../../http/request-state.ts';
import { createSseReply } from '../../http/sse-reply.ts';
import { readLinkedImage } from '../../media/linked.ts';
import { TEXT_MINIMUM, textHold } from '../../money/price.ts';
import { confirmHolder, getKeyHolder } from '../auth.ts';
import { chatDialect } from '../dialects/chat/dialect.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { messageDialect } from '../dialects/message/dialect.ts';
import {
  admitBody,
  answerJson,
  type Cost,
  createCallContext,
  type PaidRequest,
  paidRoute,
  refuseTooExpensive,
} from '../paid-route.ts';
import type { Services } from '../services.ts';
import { readTextBody } from '../text-body.ts';

export function textRoutes(services: Services): readonly ServerRoute[] {
  return [
    textRoute('/api/v1/messages', messageDialect, services),
    textRoute('/api/v1/chat/completions', chatDialect, services),
  ];
}

/** The minimum price of a call. */
const LEAST: Cost = { kind: 'text', amount: TEXT_MINIMUM };

function textRoute(path: string, dialect: Dialect, services: Services): ServerRoute {
  return paidRoute(path, services, (paid) => answer({ ...paid, dialect }));
}

interface Answering extends PaidRequest {
  readonly dialect: Dialect;
}

async function answer(answering: Answering): Promise<Lifecycle.ReturnValueTypes> {
  const { request, dialect, services, h } = answering;
  let parsed = await readRequest(answering);
  try {
    parsed = await withPictures(parsed, answering);
    await confirmHolder(request, services.holders);
    const context = begin(parsed, answering);
    if (parsed.stream) {
      await services.text.run(parsed, context, streamOutput(answering));
      return h.abandon;
    }
    const reply = await collectReply(services.text, parsed, context);
    return reply ? answerJson(answering, dialect.reply(reply, { vision: parsed.images > 0 })) : h.abandon;
  } finally {
    letGo(parsed);
  }
}

function begin({ stream }: TextRequest, answering: Answering): CallContext {
  const { request, call, reservation: share } = answering;
  const repeat = answering.idempotency?.terms({ awaited: !stream });
  call.streams = stream;
  getRequestState(request).notes.stream = stream;
  return {
    ...createCallContext(answering),
    releaseRequest: () => share.releaseAll(),
    ...(repeat && { idempotency: repeat }),
  };
}

/** The request with all its pictures; the share accounts for its size until no route can need it. */
async function withPictures(
  parsed: TextRequest,
  { request, services, call, reservation: share }: Answering,
): Promise<TextRequest> {
  const bytes = bytesOf(parsed);
  if (bytes > SMALL_BYTES) share.take(bytes);
  if (parsed.images === 0) return parsed;
  const estimated = { ...parsed, input: parsed.input ?? (await estimateInput(parsed)) };
  await refuseUnpaid(request, services, estimated);
  const budget = { take: (bytes: number) => share.takePart(bytes) };
  return fetchPictures(estimated, (url, ask) => readLinkedImage(services, url, { ...ask, budget }), call.signal);
}

async function readRequest(answering: Answering): Promise<TextRequest> {
  const { request, dialect, services } = answering;
  return readTextBody(answering, {
    format: dialect.name,
    look: (head) => refuseUnpaid(request, services, head),
    before: () => admitBody(answering, () => LEAST),
  });
}

/** Called before long texts are copied or pictures fetched, so that a wallet that cannot pay costs nothing. */
async function refuseUnpaid(request: Request, services: Services, head: TextRequest): Promise<void> {
  const tokens = { input: head.input?.tokensHeld ?? 0, maxTokens: head.maxTokens };
  const models = modelsFor(services.catalog(), head, getKeyHolder(request).limits);
  const reserves = models.map(({ price }) => textHold(price, tokens));
  // Before the texts of a long request arrive, smart's choice is unknown; it may be the cheapest.
  const [least = 0n] = reserves.sort((a, b) => Number(a - b));
  await refuseTooExpensive(request, services, { kind: 'text', amount: least });
}

function streamOutput({ request, dialect, services, onBegun }: Answering): TextOutput<string> {
  const { clientStallMs: stallMs } = services;
  const reply = createSseReply(request.raw.res, { headers: commonHeaders(request), stallMs });
  /** Refers to the whole request. */
  let begun: (() => void) | undefined = onBegun;
  return {
    live: true,
    renderer: dialect.createRenderer(),
    open() {
      reply.open();
      begun?.();
      begun = undefined;
    },
    write: (texts) => reply.write(texts.join('')),
    keepAlive: () => reply.keepAlive(),
    end: () => reply.end(),
  };
}
