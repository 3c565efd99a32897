// The pages' style, icon and few scripts: compressed for browsers that take it, cached by them for an hour, then revalidated
// by ETag. Pages themselves are not compressed here: they hold the token of their forms beside words of their address, and
// the length of a compressed page would tell about both.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { ServerRoute } from '@hapi/hapi';
import { fault } from '../base/faults.ts';
import type { ResponseStyle } from '../http/response-style.ts';
import { choosePageStyle } from './response-style.ts';

const FOLDER = new URL('./static/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const pageFace = choosePageStyle({ sandbox: false, isReal: () => false });
const { 'cache-control': _, ...headers } = pageFace.headers;
const staticFace: ResponseStyle = { ...pageFace, headers: { ...headers, 'cache-control': 'public, max-age=3600' } };

interface StaticFile {
  readonly type: string;
  readonly tag: string;
  readonly content: Buffer;
  readonly gzipped: Buffer;
}

let files: ReadonlyMap<string, StaticFile> | undefined;

/** Read for the first page: a gateway may show none. */
function readFiles(): ReadonlyMap<string, StaticFile> {
  return new Map(
    readdirSync(FOLDER).map((name) => {
      const content = readFileSync(new URL(name, FOLDER));
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      const tag = createHash('sha256').update(content).digest('base64url').slice(0, 16);
      return [name, { type, tag, content, gzipped: gzipSync(content, { level: 9 }) }];
    }),
  );
}

export const staticFiles: ServerRoute = {
  method: 'GET',
  path: '/static/{file}',
  options: { auth: false, plugins: { style: staticFace } },
  handler(request, h) {
    files ??= readFiles();
    const file = files.get(String(request.params.file));
    if (!file) throw fault('not_found');
    const isGzipped = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
      String(request.raw.req.headers['accept-encoding']),
    );
    const unchanged = h.entity({ etag: isGzipped ? `${file.tag}-gzip` : file.tag });
    if (unchanged) return unchanged.vary('accept-encoding');
    const response = h
      .response(isGzipped ? file.gzipped : file.content)
      .type(file.type)
      .vary('accept-encoding');
    return isGzipped ? response.header('content-encoding', 'gzip') : response;
  },
};
