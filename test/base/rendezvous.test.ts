import { expect } from 'chai';
import { hashName, scoreChoice } from '../../lib/base/rendezvous.ts';

const NAMES = Array.from({ length: 3000 }, (_, at) => `conversation ${at}`);

/** Which of the choices each name has. */
function choose(choices: readonly string[]): readonly string[] {
  const hashed = choices.map((choice) => ({ choice, hash: hashName(choice) }));
  return NAMES.map((name) => {
    const scored = hashed.map(({ choice, hash }) => ({ choice, score: scoreChoice(hashName(name), hash) }));
    return scored.reduce((best, other) => (other.score > best.score ? other : best)).choice;
  });
}

describe('rendezvous hashing', () => {
  it('is the same in every process and version', () => {
    expect([hashName(''), hashName('a'), hashName('text first up-model')]).to.deep.equal([
      2166136261, 3826002220, 4080773517,
    ]);
    expect(scoreChoice(hashName('a'), hashName('b'))).to.equal(4175994225);
  });

  it('spreads names evenly, also over choices that differ in one character', () => {
    for (const choices of [
      ['one', 'two', 'three'],
      ['text up-1 m', 'text up-2 m', 'text up-3 m'],
    ]) {
      const counts = Map.groupBy(choose(choices), (choice) => choice);
      for (const choice of choices) expect(counts.get(choice)?.length).to.be.within(900, 1100);
    }
  });

  it('moves only the names whose choice is gone, evenly to the others', () => {
    const before = choose(['one', 'two', 'three']);
    const after = choose(['one', 'three']);
    const moved = after.filter((choice, at) => before[at] === 'two' && choice === 'one').length;
    for (const [at, choice] of before.entries()) if (choice !== 'two') expect(after[at]).to.equal(choice);
    expect(moved / before.filter((choice) => choice === 'two').length).to.be.within(0.42, 0.58);
  });
});
