// Blocks that wait for their turn: how many there may be, and what they cost.
import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import type { ProviderPart, StreamPart } from '../../lib/stream/part.ts';
import { expectLinear } from '../../testkit/growth.ts';
import { FINISH, START } from './parts.ts';

const begin = (index: number, id = `c${index}`): ProviderPart => {
  return { type: 'block-start', index, block: { type: 'tool', id, name: 'f' } };
};
const delta = (index: number): ProviderPart => ({ type: 'block-delta', index, text: '{}' });
const close = (index: number): ProviderPart => ({ type: 'block-end', index });
const state = (index: number, value: string): ProviderPart => {
  return { type: 'block-state', index, state: { format: 'plugin', value } };
};

function pass(parts: readonly ProviderPart[]): readonly StreamPart[] {
  const guard = new Guard();
  return [...guard.push(parts), ...guard.end()];
}

describe('blocks that wait', () => {
  it('cost as much more as there are more of them', () => {
    expectLinear((times) => {
      const indexes = Array.from({ length: times }, (_, index) => index);
      const backwards = [...indexes].reverse();
      const parts = [START, ...indexes.map((index) => begin(index)), ...backwards.map(delta), ...backwards.map(close)];
      return () => {
        expect(new Guard().push(parts)).to.have.lengthOf(1 + 3 * times);
      };
    });
  });

  const long = 'x'.repeat(1024 * 1024);
  const rows: readonly (readonly [of: string, make: (index: number) => readonly ProviderPart[], blocks: number])[] = [
    ['with long names', (index) => [begin(index, `${long}${index}`)], 6],
    ['with long states', (index) => [begin(index), delta(index), state(index, long)], 6],
    ['with nothing yet', (index) => [begin(index)], 100_000],
  ];
  for (const [of, make, blocks] of rows) {
    it(`fail the answer if there are too many: ${of}`, () => {
      const parts = Array.from({ length: blocks }, (_, index) => make(index)).flat();
      expect(pass([START, ...parts, FINISH]).at(-1)).to.have.property('type', 'error');
    });
  }
});
