// Checks of videos: jobs are polled in another process than the one that started them, and only the upstream's verdict
// ends them.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import type { Provider, VideoRef, VideoState } from '../contract/provider.ts';
import { aborted } from './abort.ts';
import { compareAsked } from './asked.ts';
import { describeMedia, observeFailure, type StartOutcome, within } from './outcome.ts';
import { withIdleLimit } from './patience.ts';
import type { ExpectedState, Recording, Reply, VideoRecording } from './recording.ts';
import { listPlayChecks, onStage, type Play, type TestBench } from './stage.ts';
import { createErrorPage, createReply } from './status.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

const POLL_MS = 5_000;

export function videoChecks(subject: Subject, { video }: Provider): readonly Check[] {
  const recording = ordinary(subject, 'video');
  const checks: Play<VideoRecording>[] = [
    ['reads the same in polls cut at every byte', checkCutPolls],
    ['continues when a poll fails', checkFailedPolls],
    ['goes on at a word for its state that nobody knows', unknownWord],
    ['a poll that is aborted closes its connection', checkAbortedPoll],
  ];
  const played = listPlayChecks('jobs of video', subject, recording, checks);
  const failed = subject.recordings.find(hasFailedByWord);
  const all = failed ? [...played, reasonlessCheck(subject, failed)] : played;
  return video?.cancel ? [...all, cancelCheck(subject)] : all;
}

const REASON = /err|reason|message|detail|why|cause|info|msg|fail/i;
const STATE_WORD = /stat(e|us)|phase/i;
const FAILING_WORD = /"(?:[a-z]+_)*(fail|failed|failure|error|errored|cancell?ed|rejected|expired)"(?!\s*:)/i;

/** The job's last poll says that it has failed, by a word that remains without the reason. */
function hasFailedByWord(recording: Recording): recording is VideoRecording {
  if (recording.kind !== 'video' || recording.expect.states?.at(-1)?.status !== 'failed') return false;
  const body = recording.polls.at(-1)?.at(-1)?.body;
  const bare = body && dropReasons(body);
  return bare !== undefined && !bare.equals(body as Buffer) && FAILING_WORD.test(bare.toString('utf8'));
}

/** Vendors leave out why a job has failed, or have a field for it that is null. */
function reasonlessCheck({ plugin }: Subject, recording: VideoRecording): Check {
  return {
    group: 'jobs of video',
    name: 'end when they have failed for no reason that is given',
    run: () =>
      onStage(plugin, recording.settings, async (stage) => {
        const own = stage.fill(recording);
        const ref = own.ref ?? (await started(stage, own));
        const replies = own.polls.at(-1) ?? [];
        const last = replies.at(-1) as Reply;
        const bare = { ...last, body: dropReasons(last.body) ?? last.body };
        const { status } = await pollRecorded(stage, expectVideo(stage.again()), ref, [...replies.slice(0, -1), bare]);
        assert.equal(status, 'failed', `without its reason the job goes on: ${bare.body}`);
      }),
  };
}

/** Undefined where it is no JSON. */
function dropReasons(body: Buffer): Buffer | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    const bare = JSON.stringify(value, (name, field) => (REASON.test(name) && !STATE_WORD.test(name) ? null : field));
    return Buffer.from(bare);
  } catch {
    return undefined;
  }
}

/** A job is cancelled as recorded, by another provider than the one that started it. */
function cancelCheck({ plugin, recordings }: Subject): Check {
  const recording = recordings.find((each) => each.kind === 'video' && each.cancel?.asked?.path !== undefined);
  return {
    group: 'jobs of video',
    name: 'are cancelled as recorded',
    run: async () => {
      assert(
        recording?.kind === 'video',
        'no recording of a video has a `cancel` whose `asked.path` says what is sent',
      );
      await onStage(plugin, recording.settings, (stage) => checkCancel(stage, stage.fill(recording)));
    },
  };
}

async function checkCancel(stage: TestBench, recording: VideoRecording): Promise<void> {
  const ref: VideoRef = JSON.parse(JSON.stringify(recording.ref ?? (await started(stage, recording))));
  const reply = recording.cancel as Reply;
  const cancel = async (signal: AbortSignal) => expectVideo(stage.again()).cancel?.(ref, signal);
  stage.replay.play({ reply });
  await withIdleLimit(POLL_MS, (signal) => within(cancel(signal), signal));
  assert.equal(stage.replay.requests.length, 1, 'a job is cancelled by one request');
  compareAsked(stage.replay.requests, stage.place.key);
  stage.replay.play({ reply, pacing: { hold: 'headers' } });
  await aborted(stage, cancel);
}

/** Polls a job as often as the recording says. The ref has been stored, and another provider polls. */
export async function expectStates(
  stage: TestBench,
  recording: VideoRecording,
  ref: VideoRef,
  cut = false,
): Promise<void> {
  const { expect, polls } = recording;
  const { states = [] } = expect;
  assert.equal(polls.length, states.length, 'the recording has not a state for each poll');
  const video = expectVideo(stage.again());
  const stored: VideoRef = JSON.parse(JSON.stringify(ref));
  for (const [at, state] of states.entries()) {
    const replies = polls[at] as readonly Reply[];
    const found = await pollRecorded(stage, video, stored, replies, cut);
    if (!cut) compareAsked(stage.replay.requests, stage.place.key);
    const { size, ...result } = found.result ?? {};
    const seen = state.result && state.result.size === undefined && found.result ? { ...found, result } : found;
    for (const [name, value] of Object.entries(state)) {
      assert.deepEqual(seen[name as keyof ExpectedState], value, `poll ${at + 1}: ${name}: ${JSON.stringify(found)}`);
    }
    if (state.status === undefined) assert.equal(found.status, undefined, `poll ${at + 1} reports a state`);
  }
}

/** The result of one poll, in the terms of a recording. */
async function pollRecorded(
  stage: TestBench,
  video: NonNullable<Provider['video']>,
  ref: VideoRef,
  replies: readonly Reply[],
  cut = false,
): Promise<ExpectedState> {
  const reply = replies.at(-1) as Reply;
  const cuts = cut ? Array.from({ length: reply.body.length }, (_, place) => place) : [];
  stage.replay.play({ before: replies.slice(0, -1), reply, pacing: { cuts } });
  return withIdleLimit(POLL_MS, async (signal) => {
    try {
      return describe(await within(video.poll(ref, signal), signal), stage);
    } catch (error) {
      assert(!signal.aborted, `the poll hangs: no end after ${POLL_MS} ms`);
      const { fault, about } = observeFailure(error);
      assert(!fault?.includes(' '), fault ?? '');
      return { fault, ...(about && { about }) } as ExpectedState;
    }
  });
}

function describe(state: VideoState, { place }: TestBench): ExpectedState {
  switch (state?.status) {
    case 'queued':
    case 'processing': {
      const { status, progress } = state;
      assert(progress === undefined || (progress >= 0 && progress <= 100), `a progress of ${progress}`);
      return { status, ...(progress !== undefined && { progress }) };
    }
    case 'completed': {
      const media = describeMedia(state.result, place);
      assert(media.url !== undefined || media.type !== undefined, 'a result whose bytes nobody can read');
      return { status: 'completed', result: media as NonNullable<ExpectedState['result']> };
    }
    case 'failed': {
      const { fault, about } = observeFailure(state.fault);
      assert(!fault?.includes(' '), 'a job failed without a fault of the host');
      return { status: 'failed', fault, ...(about && { about }) } as ExpectedState;
    }
    default:
      throw new assert.AssertionError({ message: `a poll found ${JSON.stringify(state)}` });
  }
}

function expectVideo({ video }: Provider): NonNullable<Provider['video']> {
  assert(video, 'the provider has no video');
  return video;
}

async function started(stage: TestBench, recording: VideoRecording): Promise<VideoRef> {
  const { ref, detail } = (await stage.run(recording)) as StartOutcome;
  assert(ref, `the job was not started: ${detail}`);
  return ref;
}

async function checkCutPolls(stage: TestBench, recording: VideoRecording): Promise<void> {
  await expectStates(stage, recording, await started(stage, recording), true);
}

const PASSING = [404, 408, 429, 500, 502, 503, 504, 529];

/** None of it is the upstream's verdict. */
async function checkFailedPolls(stage: TestBench, recording: VideoRecording): Promise<void> {
  const ref = await started(stage, recording);
  const replies = [
    ...PASSING.flatMap((status) => [
      createReply(status, '', ''),
      createReply(status, 'text/html', createErrorPage(status)),
      createReply(status, 'application/json', '{"error":{"message":"try again later"},"status":"failed"}'),
    ]),
    createReply(200, 'text/html', createErrorPage(200)),
    createReply(200, 'application/json', '{}'),
    createReply(200, 'application/json', ''),
    { ...createReply(200, 'application/json', ''), end: 'reset' as const },
  ];
  for (const reply of replies) await goesOn(stage, ref, [reply], `status ${reply.status} with ${reply.body}`);
}

const SUCCESS = /"(complete|completed|succeed|succeeded|success|done|ready|finished|ok)"/gi;

async function unknownWord(stage: TestBench, recording: VideoRecording): Promise<void> {
  const ref = await started(stage, recording);
  const replies = recording.polls.at(-1) ?? [];
  const strange = replies.map((reply) => {
    const body = reply.body.toString('utf8').replace(SUCCESS, '"flummoxed"');
    return { ...reply, body: Buffer.from(body) };
  });
  if (strange.every((reply, at) => replies[at]?.body.equals(reply.body))) return;
  await goesOn(stage, ref, strange, 'an unknown word');
}

async function goesOn(stage: TestBench, ref: VideoRef, replies: readonly Reply[], what: string): Promise<void> {
  const { status } = await pollRecorded(stage, expectVideo(stage.provider), ref, replies);
  assert(status !== 'completed' && status !== 'failed', `${what} was taken for the end of the job: ${status}`);
}

async function checkAbortedPoll(stage: TestBench, recording: VideoRecording): Promise<void> {
  const ref = await started(stage, recording);
  const reply = recording.polls.at(-1)?.at(-1) as Reply;
  for (const pacing of [{ hold: 'headers' }, { hold: 'end', length: 1 }] as const) {
    stage.replay.play({ reply, pacing });
    await aborted(stage, (signal) => expectVideo(stage.provider).poll(ref, signal));
  }
}
