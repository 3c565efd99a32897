// Reads the JSON body of a call under the limits of all bodies, and turns it into a request.
import { readAnnouncedBytes, readBody } from '../http/body.ts';
import { checkJsonType } from '../http/json.ts';
import type { FormatName, ParsedRequest } from './formats.ts';
import type { PaidRequest } from './paid-route.ts';

export interface CallBodyOptions<Name extends FormatName> {
  readonly format: Name;
  /** The content types to name in a refusal of another one. */
  readonly typeHint?: string | undefined;
  /** Called once the content type is accepted, before anything is read; may refuse the body. */
  admit?(announcedBytes: number | undefined): Promise<void>;
  /** Sees a long request before its texts and images are copied from the parsing thread; may refuse it. */
  inspectHead?(head: ParsedRequest<Name>): Promise<void>;
}

/** Memory is reserved only while the body is read. Throws 400, 408, 409, 413, 415, 422 and 503 faults. */
export async function readCallBody<Name extends FormatName>(
  { request, services, call, reservation, idempotency }: PaidRequest,
  { typeHint, admit, ...parsing }: CallBodyOptions<Name>,
): Promise<ParsedRequest<Name>> {
  const { req } = request.raw;
  const { signal } = call;
  checkJsonType(req.headers['content-type'], typeHint);
  await admit?.(readAnnouncedBytes(req));
  try {
    const bytes = await readBody(req, { signal, reservation, limits: services.bodyLimits });
    if (idempotency) await idempotency.readBody(bytes);
    return await services.parser.parse(bytes, { ...parsing, signal });
  } finally {
    reservation.releaseAll();
  }
}
