// Reads the body of a text call, for both text endpoints and the one that only counts tokens.

import type { TextRequest } from '../calls/text/request.ts';
import { readBody } from '../http/body.ts';
import { checkJsonType } from '../http/json.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { PaidRequest } from './paid-route.ts';

export interface TextBodyOptions {
  readonly format: Dialect['name'];
  /** Called right before the body is read, once its type is accepted. */
  before?(): Promise<void>;
  /** Sees a long request before its texts and pictures; may refuse it. */
  look?(head: TextRequest): Promise<void>;
}

/** Throws 400, 408, 413, 415 and 503 faults. */
export async function readTextBody(paid: PaidRequest, options: TextBodyOptions): Promise<TextRequest> {
  const { request, services, call, reservation: share, idempotency: repeat } = paid;
  const { format, before, look } = options;
  const { signal } = call;
  const { req } = request.raw;
  checkJsonType(req.headers['content-type']);
  await before?.();
  try {
    const bytes = await readBody(req, { signal, reservation: share, limits: services.bodyLimits });
    if (repeat) await repeat.readBody(bytes);
    return await services.parser.parse(bytes, { format, signal, ...(look && { inspectHead: look }) });
  } finally {
    share.releaseAll();
  }
}
