// The pages' style, icon and few scripts: cached by browsers for an hour, then revalidated by ETag.

import { fileURLToPath } from 'node:url';
import type { ServerRoute } from '@hapi/hapi';
import type { ResponseStyle } from '../http/response-style.ts';
import { choosePageStyle } from './response-style.ts';

const FOLDER = fileURLToPath(new URL('./static/', import.meta.url));

const pageFace = choosePageStyle({ sandbox: false });
const { 'cache-control': _, ...headers } = pageFace.headers;
const staticFace: ResponseStyle = { ...pageFace, headers: { ...headers, 'cache-control': 'public, max-age=3600' } };

export const staticFiles: ServerRoute = {
  method: 'GET',
  path: '/static/{file}',
  options: { auth: false, plugins: { style: staticFace } },
  handler: { directory: { path: FOLDER, index: false, listing: false, showHidden: false } },
};
