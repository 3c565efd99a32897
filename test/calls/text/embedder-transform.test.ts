import { expect } from 'chai';
import { type CreateTransform, createEmbedderTransform } from '../../../lib/calls/text/embedder-transform.ts';

describe('a transform of an embedder', () => {
  const run = (made: unknown) => {
    function createShouter() {
      return made;
    }
    const transform = createEmbedderTransform(createShouter as CreateTransform);
    return [...transform.push([{ type: 'usage', input: 1 }]), ...(transform.end?.() ?? []), transform.done];
  };

  it('is passed on as it is', () => {
    const push = (batch: readonly object[]) => batch;
    expect(run({ push })).to.deep.equal([{ type: 'usage', input: 1 }, false]);
    expect(run({ push, end: () => [{ type: 'usage' }], done: true })).to.deep.equal([
      { type: 'usage', input: 1 },
      { type: 'usage' },
      true,
    ]);
  });

  for (const [what, made, says] of [
    ['is none', undefined, 'the transform of createShouter has no push()'],
    ['has no push', {}, 'the transform of createShouter has no push()'],
    ['returns nothing', { push: () => undefined }, 'push() of the transform of createShouter does not return a list'],
    ['is async', { push: async () => [] }, 'it must not be async'],
    ['ends with nothing', { push: () => [], end: () => null }, undefined],
    ['ends with a part', { push: () => [], end: () => ({}) }, 'end() of the transform of createShouter does not'],
  ] as const) {
    it(`that ${what} is ${says === undefined ? 'taken' : 'named'}`, () => {
      if (says === undefined) expect(run(made)).to.deep.equal([false]);
      else expect(() => run(made)).to.throw(says);
    });
  }
});
