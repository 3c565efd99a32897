// Faults of upstreams, each as it looks before the first fragment.
import { answerStatus, type Behaviour, chatEnd, SSE } from './upstream.ts';

/** The client's answer, and the cost of its call at 1000 and 5000 RUB per 1M tokens. */
export const ANSWER = 'All is well.';
export const USAGE = { input: 7, output: 400 };
export const COST = 2_007_000n;

const said = (body: string, headers: Record<string, string> = SSE): Behaviour => {
  return ({ response }) => void response.writeHead(200, headers).end(body);
};
const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const refusal = (code: string) => ({ error: { code, message: 'no' } });

/**
 * Every kind of fault that is the upstream's own, each as it looks before the first fragment. None is a `request`:
 * no other route can answer what the client has to fix.
 */
export const FAULTS: Readonly<Record<string, Behaviour>> = {
  'server: 500': answerStatus(500),
  'server: 502 with a page': ({ response }) => void response.writeHead(502).end('<html>Bad gateway</html>'),
  'overloaded: 503': answerStatus(503),
  'overloaded: 529': answerStatus(529, refusal('overloaded_error')),
  'overloaded: an event': said(event(refusal('overloaded_error'))),
  'rate: 429 with retry-after': ({ response }) => void response.writeHead(429, { 'retry-after': '20' }).end(),
  'rate: 429': answerStatus(429, refusal('rate_limit_exceeded')),
  'quota: 402': answerStatus(402),
  'quota: 429 by quota': answerStatus(429, refusal('insufficient_quota')),
  'auth: 401': answerStatus(401, refusal('invalid_api_key')),
  'auth: 403': answerStatus(403),
  'missing: 404': answerStatus(404, refusal('model_not_found')),
  'timeout: 504': answerStatus(504),
  'timeout: 408': answerStatus(408),
  'timeout: silence': () => undefined,
  'timeout: headers, then silence': ({ response }) => void response.writeHead(200, SSE).flushHeaders(),
  'timeout: comments only': async ({ response, closed }) => {
    response.writeHead(200, SSE);
    const beat = setInterval(() => response.write(': ping\n\n'), 100);
    await closed;
    clearInterval(beat);
  },
  'network: reset before the headers': ({ request }) => void request.socket.resetAndDestroy(),
  'network: closed before the headers': ({ request }) => void request.socket.destroy(),
  'network: broken after the headers': ({ response, request }) => {
    response.writeHead(200, SSE);
    response.write(': hello\n\n', () => request.socket.resetAndDestroy());
  },
  'protocol: not HTTP': ({ request }) => void request.socket.end('SSH-2.0-OpenSSH_9.7\r\n'),
  'protocol: a page': said('<html>Welcome</html>', { 'content-type': 'text/html' }),
  'protocol: a redirect': ({ response }) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  'protocol: broken JSON': said('data: {"choices":[{"delta":\n\n'),
  'truncated: no finish': said(event({ id: 'up_1', choices: [{ index: 0, delta: { role: 'assistant' } }] })),
  'truncated: an empty body': said(''),
  'empty: a finish without text': said(chatEnd({ input: 7, output: 0 })),
};
