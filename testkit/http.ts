// The HTTP server as the gateway composes it, without a gateway: its replies, and the notes of the latest request.
import { styleAt as apiFaceAt } from '../lib/api/response-styles.ts';
import { onPreResponse, onRequest } from '../lib/http/reply.ts';
import { getRequestState } from '../lib/http/request-state.ts';
import type { StyleAt } from '../lib/http/response-style.ts';
import { createHttp, type Http } from '../lib/http/server.ts';

export interface TestHttp extends Http {
  /** Notes for the log line of the latest request. */
  notes(): Readonly<Record<string, unknown>>;
}

/** Not started: routes are added first. */
export function openTestHttp(faceAt: StyleAt = apiFaceAt): TestHttp {
  const http = createHttp({ host: '127.0.0.1', port: 0, styleAt: faceAt });
  let notes: Readonly<Record<string, unknown>> = {};
  http.server.ext('onRequest', onRequest);
  http.server.ext('onPreResponse', onPreResponse);
  http.server.ext('onRequest', (request, h) => {
    notes = getRequestState(request).notes;
    return h.continue;
  });
  return { ...http, notes: () => notes };
}
