// The response styles of the API: errors in the envelope of the endpoint's dialect, and CORS for pages of any origin.
import type { ResponseStyle } from '../http/response-style.ts';
import { MEDIA_PATH } from '../media/results.ts';
import { chatFault } from './dialects/chat/fault.ts';
import { messageFault } from './dialects/message/fault.ts';

/** Endpoints whose clients read the chat-style envelope. */
const CHAT_PATHS = ['/api/v1/chat/completions', '/api/v1/responses', '/api/v1/embeddings'];
const API_PREFIX = '/api/';
const JSON_TYPE = 'application/json; charset=utf-8';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, x-request-id, request-id, x-should-retry',
};

const renderMessageFault: ResponseStyle['renderFault'] = (reason) => ({
  type: JSON_TYPE,
  body: JSON.stringify(messageFault(reason)),
});

/** For all endpoints but those of `CHAT_PATHS`. */
export const messageStyle: ResponseStyle = { headers: CORS, renderFault: renderMessageFault };

export const chatStyle: ResponseStyle = {
  headers: CORS,
  renderFault: (reason) => ({ type: JSON_TYPE, body: JSON.stringify(chatFault(reason)) }),
};

/** Stored media: embeddable by pages of any origin, but never rendered as a page, whatever the bytes are. */
export const mediaStyle: ResponseStyle = {
  headers: {
    ...CORS,
    'access-control-expose-headers': `${CORS['access-control-expose-headers']}, accept-ranges, content-range, etag`,
    'cross-origin-resource-policy': 'cross-origin',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
  },
  renderFault: renderMessageFault,
};

/** For health checks and the API document: not readable by pages of other origins. */
export const plainStyle: ResponseStyle = { headers: {}, renderFault: renderMessageFault };

/** For paths without a route. */
export function styleAt(path: string): ResponseStyle {
  if (CHAT_PATHS.some((chat) => path === chat || path.startsWith(`${chat}/`))) return chatStyle;
  if (path.startsWith(API_PREFIX)) return messageStyle;
  return path.startsWith(`${MEDIA_PATH}/`) ? mediaStyle : plainStyle;
}
