// A reply of a fetch, and the check that it is a plain, complete file.
import type { IncomingHttpHeaders } from 'node:http';
import type { ByteSource } from '../stream/bytes.ts';
import { FetchFailure } from './failure.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly source: ByteSource;
  /** Closes the connection, even if the body is incomplete. */
  close(): void;
}

/** Encodings that mean none. A file store keeps an empty name, or `aws-chunked` of an upload in pieces. */
const PLAIN: ReadonlySet<string> = new Set(['', 'identity', 'aws-chunked']);

/** Returns the declared length, if any. Throws a `FetchFailure` for anything but a plain, complete file. */
export function checkReply({ status, headers }: Reply): number | undefined {
  if (status !== 200) throw new FetchFailure('status', { status });
  const encodings = `${headers['content-encoding'] ?? ''},${headers['transfer-encoding']?.replace(/^chunked$/i, '') ?? ''}`;
  if (!encodings.split(',').every((encoding) => PLAIN.has(encoding.trim().toLowerCase()))) {
    throw new FetchFailure('encoded');
  }
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}
