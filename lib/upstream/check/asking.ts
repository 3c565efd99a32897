// Checks of requests: they match the recordings, the key is sent where it belongs, and nothing is sent twice.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { listLosses } from './charging.ts';
import { KEY } from './outcome.ts';
import type { Recording } from './recording.ts';
import type { ReceivedRequest } from './replay.ts';
import { checkSignature, dependsOnKey } from './signing.ts';
import { describeSettings, onStage } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

export function askingChecks(subject: Subject, kind: Recording['kind']): readonly Check[] {
  const group = `asking for ${kind}`;
  const checks: [name: string, run: () => Promise<void>][] = [
    ['is recorded: one recording says path and body of a request', async () => assertRecorded(subject, kind)],
    ['is done once when the answer is lost', () => askedOnce(subject, kind)],
  ];
  if ('apiKey' in describeSettings(subject.plugin)) {
    checks.push(
      ['sends the key', () => keySent(subject, kind)],
      ['signs what it sends, at the time of the host', () => checkSignature(subject, kind)],
      ['keeps the key out of the URL', () => keyHidden(subject, kind)],
    );
  }
  return checks.map(([name, run]) => ({ group, name, run }));
}

/** Otherwise a plugin that sends something else would pass. */
function assertRecorded({ recordings }: Subject, kind: Recording['kind']): void {
  const own = recordings.filter((recording) => recording.kind === kind);
  const asked = own.flatMap(({ before, reply }) => [...before, reply].map((each) => each.asked));
  assert(
    asked.some((each) => each?.path !== undefined && each.request !== undefined),
    'no recording says with `path` and `request` what is asked',
  );
  if (kind === 'embed') {
    const isCounted = own.some((each) => each.kind === 'embed' && each.expect.inputTokens);
    assert(isCounted, 'no recording of embeddings expects `inputTokens`');
  }
  if (kind !== 'text') return;
  const counted = own.some((each) => each.kind === 'text' && each.expect.usage?.output);
  assert(counted, 'no recording of an answer expects `usage` with tokens of output');
}

/** Sending it again would mean paying again. */
async function askedOnce(subject: Subject, kind: Recording['kind']): Promise<void> {
  const recording = ordinary(subject, kind);
  await onStage(subject.plugin, recording.settings, async (stage) => {
    for (const { what, reply, pacing } of listLosses(recording.reply)) {
      stage.replay.play({ reply, ...(pacing && { pacing }) });
      const { fault, content } = await stage.call(recording);
      const hasText = kind === 'text' && content !== '';
      assert(fault !== undefined || hasText, `after ${what} an answer that is lost was taken for one`);
      assert.equal(stage.replay.requests.length, 1, `after ${what} the request was sent again`);
    }
  });
}

async function keySent(subject: Subject, kind: Recording['kind']): Promise<void> {
  const { key, requests } = await asking(subject, kind);
  if (requests.some((request) => listHeaderTexts(request).some((value) => value.includes(key)))) return;
  if (declaresKey(ordinary(subject, kind))) return;
  assert(await dependsOnKey(subject, kind), 'no header of a request has the key, or anything made from it');
}

async function keyHidden(subject: Subject, kind: Recording['kind']): Promise<void> {
  const { key, requests } = await asking(subject, kind);
  if (declaresKey(ordinary(subject, kind))) return;
  const spellings = [key, encodeURIComponent(key), Buffer.from(key).toString('base64')];
  for (const { path } of requests) {
    assert(!spellings.some((spelling) => path.includes(spelling)), `the key is in the URL: ${path.replace(key, KEY)}`);
  }
}

/** For a vendor that takes the key only in the URL: the recording says so. */
function declaresKey({ before, reply }: Recording): boolean {
  return [...before, reply].some(({ asked }) => asked?.path?.includes(KEY));
}

interface Asking {
  readonly key: string;
  readonly requests: readonly ReceivedRequest[];
}

/** The request of the ordinary call. */
async function asking(subject: Subject, kind: Recording['kind']): Promise<Asking> {
  const recording = ordinary(subject, kind);
  return onStage(subject.plugin, recording.settings, async (stage) => {
    await stage.run(recording);
    return { key: stage.place.key, requests: [...stage.replay.requests] };
  });
}

function listHeaderTexts({ headers }: ReceivedRequest): readonly string[] {
  return Object.values(headers).flatMap((value) => {
    const text = String(value);
    const basic = /^basic (\S+)$/i.exec(text)?.[1];
    return basic === undefined ? [text] : [text, Buffer.from(basic, 'base64').toString('utf8')];
  });
}
