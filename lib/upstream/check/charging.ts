// Checks that no call is paid for twice: whatever comes of a request that the upstream may have accepted, it is not
// sent again.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { pauseOften } from './patience.ts';
import type { Recording, Reply } from './recording.ts';
import type { Pacing } from './replay.ts';
import { onStage, PACED_CLOCK, type TestBench } from './stage.ts';
import { createErrorPage, createReply } from './status.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

/** A call that sends its request again does so within this time. */
const RESEND_MS = 500;

export function chargingCheck(subject: Subject, kind: Recording['kind']): Check {
  const recording = ordinary(subject, kind);
  return {
    group: `asking for ${kind}`,
    name: 'is charged once, whatever comes of it',
    run: () => failEachRequest(subject, recording),
  };
}

/** Each request of the call goes wrong in each way, all of them at once. */
async function failEachRequest(subject: Subject, recording: Recording): Promise<void> {
  const failing = [...recording.before, recording.reply].flatMap((reply, at) =>
    listFailures(reply).map((_, way) => failRequest(subject, recording, at, way)),
  );
  for (const end of await Promise.allSettled(failing)) if (end.status === 'rejected') throw end.reason;
}

/** Those before it are answered as recorded. */
function failRequest({ plugin }: Subject, recording: Recording, at: number, way: number): Promise<void> {
  const play = async (stage: TestBench) => {
    const own = stage.fill(recording);
    const replies = [...own.before, own.reply];
    const { what, reply, pacing } = listFailures(replies[at] as Reply)[way] as Failure;
    stage.replay.play({ before: replies.slice(0, at), reply, ...(pacing && { pacing }) });
    // A job that is polled in vain goes on.
    const isOver = new AbortController();
    void pauseOften(RESEND_MS).then(() => isOver.abort());
    await stage.call(own, isOver.signal).catch(() => {});
    assertChargedOnce(stage, own, `after ${what} to request ${at + 1} of ${replies.length}`);
  };
  return onStage(plugin, recording.settings, play, { clock: PACED_CLOCK });
}

/** One way in which a request goes wrong. */
interface Failure {
  readonly what: string;
  readonly reply: Reply;
  readonly pacing?: Pacing;
}

/** How an answer is lost; plugins see another kind of fault in each. */
export function listLosses(recorded: Reply): readonly Failure[] {
  const half = recorded.body.subarray(0, Math.floor(recorded.body.length / 2));
  const broken = { ...recorded, body: half };
  return [
    { what: 'a closed connection', reply: recorded, pacing: { breaks: 'headers' } },
    { what: 'no answer', reply: { ...recorded, body: Buffer.alloc(0), end: 'reset' } },
    { what: 'half an answer', reply: { ...broken, end: 'reset' } },
    { what: 'half of as many bytes as were said', reply: broken, pacing: { breaks: 'length' } },
  ];
}

function listFailures(recorded: Reply): readonly Failure[] {
  const error = '{"error":{"message":"the server gave up","type":"server_error","code":500}}';
  return [
    ...listLosses(recorded),
    { what: 'an empty object', reply: createReply(200, 'application/json', '{}') },
    { what: 'a page', reply: createReply(200, 'text/html', createErrorPage(200)) },
    { what: 'an error under status 200', reply: createReply(200, 'application/json', error) },
    { what: 'status 500', reply: createReply(500, 'application/json', error) },
    { what: 'status 503', reply: createReply(503, 'text/html', createErrorPage(503)) },
  ];
}

/** A request with the words of the call is what is paid for; after a 401 nothing was done. */
export function assertChargedOnce({ replay }: TestBench, recording: Recording, when = 'in the recorded call'): void {
  const { kind } = recording;
  const words = findWords(recording);
  const charged = replay.requests.filter(({ method, reply, body }) => {
    return method !== 'GET' && reply.status !== 401 && hasWords(body.toString('utf8'), words);
  });
  // Inputs of embeddings may be sent in several requests, pieces of a text as well.
  const isJob = kind === 'image' || kind === 'video';
  const distinct = isJob ? 1 : new Set(charged.map(({ path, body }) => `${path} ${body.toString('latin1')}`)).size;
  assert(charged.length <= distinct, `${when} the same is asked for again: it would be paid twice`);
}

function findWords(recording: Recording): string {
  if (recording.kind === 'image' || recording.kind === 'video') return recording.call.prompt;
  if (recording.kind === 'embed') return recording.call.inputs[0] ?? '';
  const said = recording.call.messages.at(-1)?.content.find((part) => part.type === 'text');
  return said?.type === 'text' ? said.text : '';
}

function hasWords(body: string, words: string): boolean {
  return [words, JSON.stringify(words).slice(1, -1), encodeURIComponent(words)].some((each) => body.includes(each));
}
