// Checks of refusals: every error status gives the fault it stands for, whatever its body, and reveals no key.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { classifyStatus, isCause } from '../host/fault.ts';
import type { Outcome } from './outcome.ts';
import type { Recording, Reply } from './recording.ts';
import { listPlayChecks, type Play, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

const STATUSES = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529];

export function statusChecks(subject: Subject, kind: Recording['kind']): readonly Check[] {
  const recording = ordinary(subject, kind);
  const group = kind === 'text' ? 'refusals' : `refusals of ${kind}`;
  const checks: Play[] = [
    ...listStatuses(subject).map(
      ([status, kind]): Play => [`status ${status} is ${kind}`, (stage, own) => refused(stage, own, status, kind)],
    ),
    ['a 429 says when to ask again', limited],
    ['a redirect is not followed and no answer', redirected],
    ['an answer of HTML is no answer', answeredHtml],
    ['an empty object or list is no answer', answeredNothing],
    ['a body that quotes the key keeps it out of the log', quotedKey],
  ];
  return listPlayChecks(group, subject, recording, checks);
}

/** With the kind of each: a plugin may say that its vendor means another. */
function listStatuses({ plugin }: Subject): readonly (readonly [status: number, kind: string])[] {
  const own = Object.entries(plugin.faultStatuses ?? {}).map(
    ([status, kind]) => [Number(status), isCause(kind) ? 'request' : kind] as const,
  );
  return [...new Map([...STATUSES.map((status) => [status, classifyStatus(status)] as const), ...own])];
}

export const createReply = (status: number, type: string, body: string): Reply => ({
  status,
  headers: type === '' ? {} : { 'content-type': type },
  body: Buffer.from(body),
});

export const createErrorPage = (status: number): string =>
  `<html>\r\n<head><title>${status}</title></head>\r\n<body><center>${STATUS_CODES[status] ?? status}</center></body></html>\r\n`;

/** To the first request, and if others precede it, to the one whose answer was recorded. */
async function refused(stage: TestBench, recording: Recording, status: number, kind: string): Promise<void> {
  const bodies = [
    createReply(status, '', ''),
    createReply(status, 'text/html', createErrorPage(status)),
    createReply(status, 'application/json', '{'),
  ];
  for (const reply of bodies) {
    const outcomes = [await first(stage, recording, reply)];
    assert.equal(stage.replay.requests.length, 1, `after status ${status} the request is sent again`);
    if (recording.before.length > 0) outcomes.push(await stage.run(recording, { reply }));
    for (const outcome of outcomes) {
      const what = `status ${status} with ${reply.headers['content-type'] ?? 'no'} body: ${outcome.detail}`;
      assert.equal(outcome.fault, kind, what);
      assert.equal(outcome.content, '', what);
    }
  }
}

async function limited(stage: TestBench, recording: Recording): Promise<void> {
  const reply = { ...createReply(429, '', ''), headers: { 'retry-after': '7' } };
  assert.equal((await first(stage, recording, reply)).retryAfterMs, 7000);
}

/** The first request gets the reply. */
function first(stage: TestBench, recording: Recording, reply: Reply): Promise<Outcome> {
  stage.replay.play({ reply });
  return stage.call(recording);
}

const ELSEWHERE = '/elsewhere';

async function redirected(stage: TestBench, recording: Recording): Promise<void> {
  const reply = { ...createReply(307, '', ''), headers: { location: ELSEWHERE } };
  const outcome = await first(stage, recording, reply);
  assert.notEqual(outcome.fault, undefined, 'a redirect was taken for an answer');
  const paths = stage.replay.requests.map(({ path }) => path);
  assert(!paths.some((path) => path.startsWith(ELSEWHERE)), 'the redirect was followed');
  assert.equal(paths.length, 1, `after a redirect the request was sent again: ${paths.join(', ')}`);
}

async function answeredHtml(stage: TestBench, recording: Recording): Promise<void> {
  const outcome = await first(stage, recording, createReply(200, 'text/html', createErrorPage(200)));
  assertNothing(outcome, 'a page was read as an answer');
}

async function answeredNothing(stage: TestBench, recording: Recording): Promise<void> {
  for (const body of ['{}', '[]', 'null', '']) {
    const outcome = await first(stage, recording, createReply(200, 'application/json', body));
    assertNothing(outcome, `\`${body}\` was read as an answer`);
  }
}

function assertNothing({ fault, content }: Outcome, what: string): void {
  assert.notEqual(fault, undefined, what);
  assert(!fault?.includes(' '), fault ?? '');
  assert.equal(content, '');
}

async function quotedKey(stage: TestBench, recording: Recording): Promise<void> {
  const { key } = stage.place;
  const words = `Incorrect API key provided: ${key}.`;
  const body = JSON.stringify({ error: { message: words }, message: words });
  const outcome = await first(stage, recording, createReply(401, 'application/json', body));
  assert.equal(outcome.fault, 'auth');
  assert(!outcome.detail.includes(key), 'the fault shows the key');
}
