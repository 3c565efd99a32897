// Compares a provider's requests with what a recording expects.
import assert from 'node:assert/strict';
import { KEY } from './outcome.ts';
import type { ReceivedRequest } from './replay.ts';

/** Every request against the expectations of the reply it was answered with. */
export function compareAsked(requests: readonly ReceivedRequest[], key: string): void {
  for (const [at, { reply, ...request }] of requests.entries()) {
    const { asked = {} } = reply;
    const what = requests.length === 1 ? 'the request' : `request ${at + 1}`;
    if (asked.method !== undefined) assert.equal(request.method, asked.method, `${what} has another method`);
    if (asked.path !== undefined) {
      assert.equal(request.path, asked.path.replaceAll(KEY, encodeURIComponent(key)), `${what} has another path`);
    }
    for (const [name, value] of Object.entries(asked.headers ?? {})) {
      assert.equal(request.headers[name], value.replaceAll(KEY, key), `${what} has another header ${name}`);
    }
    if (asked.request !== undefined) assertContains(parseSentBody(request), asked.request, what);
  }
}

/** JSON, or the fields and files of a multipart body: a file as its name, type and size. */
function parseSentBody({ headers, body }: Omit<ReceivedRequest, 'reply'>): unknown {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return parseSentForm(type, body);
  const text = body.toString('utf8');
  try {
    return JSON.parse(text === '' ? 'null' : text);
  } catch {
    return text;
  }
}

function parseSentForm(type: string, body: Buffer): object {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? '';
  const form: Record<string, unknown> = {};
  for (const piece of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const at = piece.indexOf('\r\n\r\n');
    const head = piece.slice(0, at);
    const content = Buffer.from(piece.slice(at + 4, -2), 'latin1');
    const name = /name="([^"]*)"/i.exec(head)?.[1] ?? '';
    const fileName = /filename="([^"]*)"/i.exec(head)?.[1];
    const mediaType = /content-type: *(\S+)/i.exec(head)?.[1];
    const value = fileName === undefined ? content.toString('utf8') : { fileName, mediaType, size: content.length };
    form[name] = name in form ? [form[name], value].flat() : value;
  }
  return form;
}

/** Objects may have more keys than expected; everything else is equal. */
function assertContains(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(actual, expected, `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
    return;
  }
  assert(typeof actual === 'object' && actual !== null, `${path} is missing`);
  if (Array.isArray(expected))
    assert.equal((actual as unknown[]).length, expected.length, `${path} has another length`);
  for (const [key, value] of Object.entries(expected)) {
    assertContains((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  }
}
