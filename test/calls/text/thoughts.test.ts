// Which callers see what a model thinks.
import { expect } from 'chai';
import { CLOSE, delta, FINISH, OPEN, playing, START, Stage, usage } from './stage.ts';

describe('thoughts of a model', () => {
  const stage = new Stage();
  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());

  it('are shown to those who ask, and those of a buffered model to nobody', async () => {
    const thought = { type: 'block-start', index: 0, block: { type: 'reasoning' } };
    const text = [
      { ...OPEN, index: 1 },
      { ...delta('Hello'), index: 1 },
      { ...CLOSE, index: 1 },
    ];
    const answer = playing([START, thought, delta('Hm.'), CLOSE, ...text, usage(7, 900), FINISH]);
    const request = { showsReasoning: true };
    for (const [options, seen] of [
      [{ request }, ['reasoning', 'text']],
      [{}, ['text']],
      [{ request, delivery: 'buffered' }, ['text']],
    ] as const) {
      const { parts } = await stage.call({ routes: [answer], ...options });
      expect(parts.flatMap((part) => (part.type === 'block-start' ? [part.block.type] : []))).to.deep.equal(seen);
    }
  });
});
