// How the API answers: errors in the envelope of the endpoint's dialect, and to pages of any origin, without cookies.
import type { Face } from '../http/face.ts';
import { chatFault } from './dialects/chat/fault.ts';
import { messageFault } from './dialects/message/fault.ts';

const CHAT_PATH = '/api/v1/chat/completions';
const API_PREFIX = '/api/';
const JSON_TYPE = 'application/json; charset=utf-8';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, x-request-id, request-id, x-should-retry',
};

const renderMessageFault: Face['renderFault'] = (reason) => ({
  type: JSON_TYPE,
  body: JSON.stringify(messageFault(reason)),
});

/** Every endpoint but one. */
export const messageFace: Face = { headers: CORS, renderFault: renderMessageFault };

export const chatFace: Face = {
  headers: CORS,
  renderFault: (reason) => ({ type: JSON_TYPE, body: JSON.stringify(chatFault(reason)) }),
};

/** What is asked by machines of the operator: no page of another origin has any business there. */
export const plainFace: Face = { headers: {}, renderFault: renderMessageFault };

/** Of a path that no route has. */
export function faceAt(path: string): Face {
  if (path === CHAT_PATH || path.startsWith(`${CHAT_PATH}/`)) return chatFace;
  return path.startsWith(API_PREFIX) ? messageFace : plainFace;
}
