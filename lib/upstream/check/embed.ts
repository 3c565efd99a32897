// Checks of embeddings: a reply with fewer vectors than inputs is no answer, and a count is never made up.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import type { EmbedOutcome } from './outcome.ts';
import type { EmbedRecording } from './recording.ts';
import { listPlayChecks, type Play, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

export function embedChecks(subject: Subject): readonly Check[] {
  const recording = ordinary(subject, 'embed');
  const checks: Play<EmbedRecording>[] = [
    ['a vector too few is no answer', lacksVector],
    ['a reply without a count has none', lacksCount],
  ];
  return listPlayChecks('embeddings', subject, recording, checks);
}

/** The recorded reply to a call with one more input; a vendor that takes one at a time is asked once more. */
async function lacksVector(stage: TestBench, recording: EmbedRecording): Promise<void> {
  const { inputs, tokens } = recording.call;
  const more = tokens ? { inputs, tokens: [...tokens, [1]] } : { inputs: [...inputs, 'One more'] };
  const { fault } = await stage.run({ ...recording, call: { ...recording.call, ...more } });
  const isAskedForEach = stage.replay.requests.length > recording.before.length + 1;
  if (!isAskedForEach) assert.equal(fault, 'protocol', 'a reply with a vector too few was taken for an answer');
}

async function lacksCount(stage: TestBench, recording: EmbedRecording): Promise<void> {
  const { body } = recording.reply;
  const uncounted = JSON.stringify(JSON.parse(body.toString('utf8')), (name, value) =>
    /usage|token/i.test(name) ? undefined : value,
  );
  const reply = { ...recording.reply, body: Buffer.from(uncounted) };
  const { vectors, inputTokens, detail } = (await stage.run(recording, { reply })) as EmbedOutcome;
  assert.deepEqual(vectors, recording.expect.vectors, `without counts there are other vectors: ${detail}`);
  assert.equal(inputTokens, null, 'a count that was not sent');
}
