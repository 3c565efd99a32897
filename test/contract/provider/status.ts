// Checks of refusals: every error status gives the fault it stands for, whatever its body, and shows no key.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { kindOfStatus } from '../../../lib/plugin/fault.ts';
import type { Reply } from '../../helpers/recordings.ts';
import { type Check, ordinary, type Subject } from './check.ts';
import { API_KEY, openStage } from './subject.ts';

const GROUP = 'refusals';

const STATUSES = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529];

export function statusChecks(subject: Subject): readonly Check[] {
  return [
    ...STATUSES.map((status): Check => {
      return { group: GROUP, name: `status ${status} is ${kindOfStatus(status)}`, run: () => refused(subject, status) };
    }),
    { group: GROUP, name: 'a redirect is not followed and no answer', run: () => redirected(subject) },
    { group: GROUP, name: 'an answer of HTML is no answer', run: () => answeredHtml(subject) },
    { group: GROUP, name: 'a body that quotes the key keeps it out of the log', run: () => quotedKey(subject) },
  ];
}

const reply = (status: number, type: string, body: string): Reply => ({
  status,
  headers: type === '' ? {} : { 'content-type': type },
  body: Buffer.from(body),
});

const page = (status: number): string =>
  `<html>\r\n<head><title>${status}</title></head>\r\n<body><center>${STATUS_CODES[status] ?? status}</center></body></html>\r\n`;

async function refused(subject: Subject, status: number): Promise<void> {
  const bodies = [
    reply(status, '', ''),
    reply(status, 'text/html', page(status)),
    reply(status, 'application/json', '{'),
  ];
  await staged(subject, async (run) => {
    for (const each of bodies) {
      const outcome = await run(each);
      const what = `status ${status} with ${each.headers['content-type'] ?? 'no'} body: ${outcome.detail}`;
      assert.equal(outcome.fault, kindOfStatus(status), what);
      assert.equal(outcome.text, '', what);
    }
  });
}

async function redirected(subject: Subject): Promise<void> {
  await staged(subject, async (run, count) => {
    const outcome = await run({ ...reply(307, '', ''), headers: { location: '/elsewhere' } });
    assert.notEqual(outcome.fault, undefined);
    assert.equal(count(), 1);
  });
}

async function answeredHtml(subject: Subject): Promise<void> {
  await staged(subject, async (run) => {
    const outcome = await run(reply(200, 'text/html', page(200)));
    assert.notEqual(outcome.fault, undefined, 'a page was read as an answer');
    assert.equal(outcome.text, '');
  });
}

async function quotedKey(subject: Subject): Promise<void> {
  const words = `Incorrect API key provided: ${API_KEY}.`;
  await staged(subject, async (run) => {
    const outcome = await run(
      reply(401, 'application/json', JSON.stringify({ error: { message: words }, message: words })),
    );
    assert.equal(outcome.fault, 'auth');
    assert(!outcome.detail.includes(API_KEY), 'the fault shows the key');
  });
}

type Run = (answer: Reply) => ReturnType<Awaited<ReturnType<typeof openStage>>['run']>;

async function staged(subject: Subject, play: (run: Run, count: () => number) => Promise<void>): Promise<void> {
  const recording = ordinary(subject);
  const stage = await openStage(subject.plugin, recording.settings);
  try {
    await play(
      (answer) => stage.run(recording, answer),
      () => stage.replay.requests.length,
    );
  } finally {
    await stage.close();
  }
}
