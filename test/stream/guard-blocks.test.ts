import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import type { ProviderPart, StreamPart } from '../../lib/stream/part.ts';
import { CLOSE, delta, FINISH, OPEN, START } from './parts.ts';

/** Everything that comes out when the arrays arrive in turn and the source then ends. */
function pass(arrays: readonly (readonly ProviderPart[])[]): readonly StreamPart[] {
  const guard = new Guard();
  return [...arrays.flatMap((parts) => [...guard.push(parts)]), ...guard.end()];
}

describe('guard', () => {
  describe('blocks that are open at the same time', () => {
    const begin = (index: number, type: 'text' | 'reasoning' = 'text') =>
      ({ type: 'block-start', index, block: { type } }) as const;
    const close = (index: number) => ({ type: 'block-end', index }) as const;

    it('pass one after the other', () => {
      const tool = (index: number, id: string) =>
        ({ type: 'block-start', index, block: { type: 'tool', id, name: 'f' } }) as const;
      const parts = [
        START,
        tool(0, 'a'),
        tool(4, 'b'),
        delta('{"b', 4),
        delta('{"a":1}', 0),
        close(4),
        close(0),
        FINISH,
      ];
      for (const arrays of [[parts], parts.map((part) => [part])]) {
        expect(pass(arrays)).to.deep.equal([
          START,
          tool(0, 'a'),
          delta('{"a":1}', 0),
          close(0),
          tool(1, 'b'),
          delta('{"b', 1),
          close(1),
          { ...FINISH, reason: 'tool' },
        ]);
      }
    });

    it('end with the answer if nothing else ends them', () => {
      expect(pass([[START, begin(0), delta('a'), begin(1), delta('b', 1), FINISH]])).to.deep.equal([
        START,
        OPEN,
        delta('a'),
        delta('b'),
        CLOSE,
        FINISH,
      ]);
    });

    it('keep a refusal apart from the texts around it', () => {
      const refusal = (index: number) =>
        ({ type: 'block-start', index, block: { type: 'text', refusal: true } }) as const;
      const parts = [
        START,
        begin(0),
        delta('a'),
        close(0),
        refusal(1),
        delta('b', 1),
        close(1),
        refusal(2),
        delta('c', 2),
      ];
      expect(pass([[...parts, close(2), begin(3), delta('d', 3), close(3), FINISH]])).to.deep.equal([
        START,
        OPEN,
        delta('a'),
        CLOSE,
        refusal(1),
        delta('b', 1),
        delta('c', 1),
        close(1),
        begin(2),
        delta('d', 2),
        close(2),
        FINISH,
      ]);
    });

    it('keep texts of several phases apart, and join those of one', () => {
      const text = (index: number, phase?: unknown) =>
        ({
          type: 'block-start',
          index,
          block: { type: 'text', ...(phase !== undefined && { phase }) },
        }) as ProviderPart;
      const blocks = [undefined, 'commentary', 'commentary', 'final_answer'].flatMap((phase, index) => [
        text(index, phase),
        delta(`${index}`, index),
        close(index),
      ]);
      expect(pass([[START, ...blocks, FINISH]])).to.deep.equal([
        START,
        OPEN,
        delta('0'),
        CLOSE,
        text(1, 'commentary'),
        delta('1', 1),
        delta('2', 1),
        close(1),
        text(2, 'final_answer'),
        delta('3', 2),
        close(2),
        FINISH,
      ]);
      const failed = pass([[START, text(0, 5)]]).at(-1);
      expect(failed?.type === 'error' && failed.fault.data?.code).to.equal('upstream_failed');
    });

    it('may not wait for ever', () => {
      const guard = new Guard();
      const long = 'x'.repeat(1024 * 1024);
      const parts = [START, begin(0), begin(1), ...Array.from({ length: 5 }, () => delta(long, 1))];
      const last = guard.push(parts).at(-1);
      expect(last?.type === 'error' && last.fault.data?.code).to.equal('upstream_failed');
    });

    it('hide reasoning where it is not asked for, and join the texts around it', () => {
      const state = { type: 'block-state', index: 1, state: { format: 'a', value: 'b' } } as const;
      const parts = [
        START,
        OPEN,
        delta('a'),
        begin(1, 'reasoning'),
        delta('hm', 1),
        state,
        delta('b'),
        close(1),
        FINISH,
      ];
      expect(pass([parts])).to.deep.equal([
        START,
        OPEN,
        delta('a'),
        { type: 'hidden', text: 'hm' },
        delta('b'),
        CLOSE,
        FINISH,
      ]);
      const guard = new Guard({ outputMax: 9, showsReasoning: true });
      expect([...guard.push(parts), ...guard.end()]).to.deep.equal([
        START,
        OPEN,
        delta('a'),
        delta('b'),
        CLOSE,
        begin(1, 'reasoning'),
        state,
        delta('hm', 1),
        close(1),
        FINISH,
      ]);
    });

    it('keep the last state of reasoning, and refuse one of no open block', () => {
      const state = (index: number, value: string) =>
        ({ type: 'block-state', index, state: { format: 'a', value } }) as const;
      const thought = begin(0, 'reasoning');
      const shown = (...parts: readonly ProviderPart[]) => {
        const guard = new Guard({ outputMax: 9, showsReasoning: true });
        return [...guard.push([START, thought, delta('hm'), ...parts, FINISH]), ...guard.end()];
      };
      expect(shown(state(0, 'x'), state(0, 'y'))).to.deep.equal([
        START,
        thought,
        delta('hm'),
        state(0, 'x'),
        state(0, 'y'),
        CLOSE,
        FINISH,
      ]);
      expect(
        shown(begin(1), state(1, 'x'), delta('a', 1), close(1), CLOSE).filter(({ type }) => type === 'block-state'),
      ).to.deep.equal([]);
      const last = shown(state(1, 'x')).at(-1);
      expect(last?.type === 'error' && last.fault.cause)
        .to.have.property('message')
        .that.contains('a state outside its block');
    });

    it('give each call without arguments empty ones, whatever the call before had', () => {
      const call = (index: number) =>
        ({ type: 'block-start', index, block: { type: 'tool', id: `call_${index}`, name: 'f' } }) as const;
      const passed = pass([[START, call(0), delta('{"a":1}'), CLOSE, call(1), close(1), FINISH]]);
      expect(passed.filter(({ type }) => type === 'block-delta')).to.deep.equal([delta('{"a":1}'), delta('{}', 1)]);
    });

    it('give a call its state with its start', () => {
      const call = { type: 'block-start', index: 0, block: { type: 'tool', id: 'x', name: 'f' } } as const;
      const state = { format: 'contents', value: 'sig' };
      const passed = pass([[START, call, { type: 'block-state', index: 0, state }, FINISH]]);
      expect(passed[1]).to.deep.equal({ ...call, block: { ...call.block, state } });
    });
  });

  it('ends an answer of more blocks than tokens, none of which says anything, shown or not', () => {
    const empty = (type: 'text' | 'tool') =>
      Array.from({ length: 100 }, (_, index) => [
        { type: 'block-start', index, block: type === 'text' ? { type } : { type, id: `${index}`, name: 'f' } },
        { type: 'block-end', index },
      ]).flat() as ProviderPart[];
    for (const calls of ['any', 'none'] as const) {
      for (const type of ['text', 'tool'] as const) {
        const endsAt = (outputMax: number) => {
          const guard = new Guard({ outputMax, calls });
          guard.push([START, ...empty(type)]);
          return guard.done;
        };
        expect([endsAt(35), endsAt(36)], `${calls} ${type}`).to.deep.equal([true, false]);
      }
    }
  });
});
