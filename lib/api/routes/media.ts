// GET /media/{file}: stored images and videos, whole or in part, for anyone with the link until it expires.
import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { fault } from '../../base/faults.ts';
import { findExtension } from '../../base/sniff.ts';
import { commonHeaders } from '../../http/reply.ts';
import { getRequestState, type LiveCall } from '../../http/request-state.ts';
import { MEDIA_PATH, parseFileName } from '../../media/results.ts';
import type { ByteRange, StoredMedia } from '../../store/ports/media.ts';
import { StoreError } from '../../store/store.ts';
import { mediaStyle } from '../response-styles.ts';
import type { Services } from '../services.ts';

export function mediaRoute(services: Services): ServerRoute {
  return {
    method: 'GET',
    path: `${MEDIA_PATH}/{file}`,
    options: { auth: false, plugins: { style: mediaStyle } },
    handler: async (request, h) => {
      const call = services.calls.open(request);
      try {
        return await answer(request, h, { services, call });
      } finally {
        call.close();
      }
    },
  };
}

interface MediaCall {
  readonly services: Services;
  readonly call: LiveCall;
}

async function answer(request: Request, h: ResponseToolkit, { services, call }: MediaCall): Promise<symbol> {
  const media = await findMedia(request, services);
  const reply = createMediaReply(request, media);
  const response = request.raw.res;
  if (!reply.range) {
    response.writeHead(reply.status, reply.headers).end();
    return h.abandon;
  }
  const chunks = services.store.media.read(media.id, reply.range)[Symbol.asyncIterator]();
  try {
    // The first chunk is read before the status is sent, so that a failure can still be reported.
    const first = await chunks.next().catch(refuse);
    response.writeHead(reply.status, reply.headers);
    let left = reply.range.last + 1 - reply.range.first;
    for (let next = first; !next.done && !call.signal.aborted; next = await chunks.next()) {
      left -= next.value.length;
      // The reply ends with its last bytes: a client that has them may send its next request.
      if (left <= 0) response.end(next.value);
      else if (!response.write(next.value)) await waitForDrain(response, call.signal);
    }
    if (!call.signal.aborted && !response.writableEnded) response.end();
  } catch (error) {
    if (!response.headersSent) throw error;
    getRequestState(request).notes.err = error;
  } finally {
    await chunks.return?.();
    if (response.headersSent && !response.writableEnded) response.destroy();
  }
  return h.abandon;
}

async function findMedia(request: Request, { store }: Services): Promise<StoredMedia> {
  const { id, extension } = parseFileName(String(request.params.file)) ?? {};
  const media = id === undefined ? undefined : await store.media.get(id).catch(refuse);
  const isAvailable = media && media.expiresAt > Date.now() && findExtension(media.mediaType) === extension;
  if (!isAvailable) throw unknownLink();
  return media;
}

function refuse(error: unknown): never {
  if (!(error instanceof StoreError)) throw error;
  throw error.blames === 'batch' ? unknownLink() : fault('store_unavailable', {}, error);
}

const unknownLink = () => fault('not_found', { hint: 'The link is unknown or has expired' });

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The part of the file to send; undefined for none. */
  readonly range: ByteRange | undefined;
}

function createMediaReply(request: Request, media: StoredMedia): Reply {
  const { method, headers: requestHeaders } = request.raw.req;
  // The bytes of an id never change. Hashed, because the id gives access to the file.
  const etag = `"${hash('sha256', media.id).slice(0, 32)}"`;
  const headers = {
    ...commonHeaders(request),
    'accept-ranges': 'bytes',
    'cache-control': `private, max-age=${Math.floor((media.expiresAt - Date.now()) / 1000)}, immutable`,
    etag,
  };
  if (matchesEtag(requestHeaders['if-none-match'], etag)) return { status: 304, headers, range: undefined };
  const { bytes } = media;
  const typed = { ...headers, 'content-type': media.mediaType, 'content-disposition': 'inline' };
  const isSameFile = requestHeaders['if-range'] === undefined || requestHeaders['if-range'] === etag;
  const range = method === 'GET' && isSameFile ? readRange(requestHeaders.range, bytes) : undefined;
  if (range) {
    const { first, last } = range;
    const part = { 'content-range': `bytes ${first}-${last}/${bytes}`, 'content-length': String(last + 1 - first) };
    return { status: 206, headers: { ...typed, ...part }, range };
  }
  const whole = method === 'HEAD' || bytes === 0 ? undefined : { first: 0, last: bytes - 1 };
  return { status: 200, headers: { ...typed, 'content-length': String(bytes) }, range: whole };
}

function matchesEtag(header: string | undefined, etag: string): boolean {
  const names = (header ?? '').split(',').map((name) => name.trim().replace(/^W\//, ''));
  return names.includes(etag) || names.includes('*');
}

/** No two runs of spaces meet without a sign between them: every division of a long run would be tried. */
const RANGE = /^bytes=\s*(?:(\d{1,15})\s*)?-\s*(?:(\d{1,15})\s*)?$/i;

/** The requested range; undefined if there is none, several or an invalid one, which get the whole file. */
function readRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [range, begin = '', end = ''] = RANGE.exec(header ?? '') ?? [];
  if (range === undefined || (begin === '' && end === '')) return undefined;
  const suffix = begin === '';
  const first = suffix ? Math.max(0, bytes - Number(end)) : Number(begin);
  const last = suffix || end === '' ? bytes - 1 : Math.min(Number(end), bytes - 1);
  if (!suffix && end !== '' && Number(end) < Number(begin)) return undefined;
  if (first > last) throw fault('range_not_satisfiable', { bytes });
  return { first, last };
}

/** Resolves when the write buffer is empty, or the client has left. */
function waitForDrain(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle);
      signal.removeEventListener('abort', settle);
      resolve();
    };
    if (signal.aborted) return resolve();
    response.once('drain', settle);
    signal.addEventListener('abort', settle, { once: true });
  });
}
