import { expect } from 'chai';
import { createLimit } from '../../lib/stream/limit.ts';
import type { StreamPart } from '../../lib/stream/part.ts';

const START: StreamPart = { type: 'start', id: 'x', model: 'y' };
const OPEN: StreamPart = { type: 'block-start', index: 0, block: { type: 'text' } };
const CLOSE: StreamPart = { type: 'block-end', index: 0 };
const LENGTH: StreamPart = { type: 'finish', reason: 'length' };
const delta = (text: string): StreamPart => ({ type: 'block-delta', index: 0, text });
const usage = (output: number): StreamPart => ({ type: 'usage', input: 1, output });

/** A limit of one token, which is 16 characters. */
function taken(...batches: readonly (readonly StreamPart[])[]) {
  const limit = createLimit(1);
  const parts = batches.map((batch) => (limit.reached ? undefined : limit.take(batch, { running: true })));
  return { parts, reached: limit.reached };
}

describe('limit of an answer', () => {
  it('passes what is within it as it is', () => {
    const batches = [[START, OPEN], [delta('a'.repeat(10)), usage(1)], [delta('b'.repeat(6))], [CLOSE, usage(0)]];
    const { parts, reached } = taken(...batches);
    for (const [at, batch] of batches.entries()) expect(parts[at]).to.equal(batch);
    expect(reached).to.equal(false);
  });

  it('ends in the middle of a text, and closes its block', () => {
    const { parts, reached } = taken([START, OPEN, delta('a'.repeat(10)), delta('b'.repeat(10)), CLOSE, usage(1)]);
    expect(parts).to.deep.equal([[START, OPEN, delta('a'.repeat(10)), delta('b'.repeat(6)), CLOSE, LENGTH]]);
    expect(reached).to.equal(true);
  });

  it('ends between two texts, over several arrays and blocks', () => {
    const second: StreamPart = { type: 'block-start', index: 1, block: { type: 'text' } };
    const { parts } = taken(
      [START, OPEN, delta('a'.repeat(16))],
      [CLOSE, second],
      [{ ...delta('b'), index: 1 } as StreamPart],
    );
    expect(parts[2]).to.deep.equal([{ type: 'block-end', index: 1 }, LENGTH]);
  });

  it('leaves no half of a character', () => {
    const { parts } = taken([START, OPEN, delta(`${'a'.repeat(15)}👋`)]);
    expect(parts).to.deep.equal([[START, OPEN, delta('a'.repeat(15)), CLOSE, LENGTH]]);
    expect(taken([START, OPEN, delta('a'.repeat(15))], [delta('👋')]).parts[1]).to.deep.equal([CLOSE, LENGTH]);
  });

  it('ends with a running count above it, and with no other count', () => {
    expect(taken([START, usage(2), OPEN])).to.deep.equal({ parts: [[START, usage(2), LENGTH]], reached: true });
    for (const output of [1, -2, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
      expect(taken([START, usage(output)]).reached, `${output}`).to.equal(false);
    }
    const limit = createLimit(1);
    expect(limit.take([usage(2)], { running: false })).to.deep.equal([usage(2)]);
    expect(limit.reached).to.equal(false);
  });

  it('may be none', () => {
    const limit = createLimit(Number.POSITIVE_INFINITY);
    const parts = [START, OPEN, delta('a'.repeat(1_000_000)), usage(1_000_000)];
    expect(limit.take(parts, { running: true })).to.equal(parts);
  });
});
