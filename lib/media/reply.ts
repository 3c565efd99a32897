// The head of a reply, and whether what follows is a plain, complete file.
import type { IncomingHttpHeaders } from 'node:http';
import type { ByteSource } from '../stream/bytes.ts';
import { FetchFailure } from './failure.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly source: ByteSource;
  /** Closes the connection, whatever is under way. */
  close(): void;
}

/** The length that a reply declares, if any. Throws if it is not a plain and complete file. */
export function checkReply({ status, headers }: Reply): number | undefined {
  if (status !== 200) throw new FetchFailure('status', { status });
  const encodings = [headers['content-encoding'], headers['transfer-encoding']?.replace(/^chunked$/i, 'identity')];
  if (encodings.some((encoding) => encoding !== undefined && !/^identity$/i.test(String(encoding)))) {
    throw new FetchFailure('encoded');
  }
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}
