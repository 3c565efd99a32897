import { expect } from 'chai';
import fc from 'fast-check';
import { type FaultCode, fault } from '../../lib/base/faults.ts';
import { Guard } from '../../lib/stream/guard.ts';
import type { ErrorPart, ProviderPart, StreamPart } from '../../lib/stream/part.ts';
import { longer } from '../../testkit/long.ts';
import { GIF } from '../media/sample-images.ts';
import { CLOSE, delta, FINISH, OPEN, START, usage } from './parts.ts';

const failure = (code: FaultCode): ErrorPart => ({ type: 'error', fault: fault(code) });

/** What no type would let through. */
const odd = (value: unknown): ProviderPart => value as ProviderPart;

/** Everything that comes out when the arrays arrive in turn and the source then ends. */
function pass(arrays: readonly unknown[]): readonly StreamPart[] {
  const guard = new Guard();
  const passed = arrays.flatMap((parts) => [...guard.push(parts as readonly ProviderPart[])]);
  return [...passed, ...guard.end()];
}

const typesOf = (parts: readonly StreamPart[]) => parts.map(({ type }) => type);

function codeOf(parts: readonly StreamPart[]): FaultCode | undefined {
  const last = parts.at(-1);
  return last?.type === 'error' ? last.fault.data?.code : undefined;
}

const isTerminal = ({ type }: StreamPart) => type === 'finish' || type === 'error';

/** Says what breaks the grammar; empty when nothing does. */
function flawsOf(parts: readonly StreamPart[]): readonly string[] {
  const flaws: string[] = [];
  let started = false;
  let open: number | undefined;
  let next = 0;
  for (const [at, part] of parts.entries()) {
    switch (part?.type) {
      case 'start':
        if (started) flaws.push('two starts');
        started = true;
        break;
      case 'block-start':
        if (!started || open !== undefined || part.index !== next) flaws.push('a block out of order');
        if (part.block.type !== 'text') flaws.push('an unknown block');
        open = next;
        next += 1;
        break;
      case 'block-delta':
        if (open === undefined || part.index !== open) flaws.push('a delta outside its block');
        if (typeof part.text !== 'string' || part.text === '') flaws.push('a delta without text');
        break;
      case 'block-end':
        if (open === undefined || part.index !== open) flaws.push('an end outside its block');
        open = undefined;
        break;
      case 'image':
        if (!started || open !== undefined || part.index !== next) flaws.push('an image out of order');
        next += 1;
        break;
      case 'finish':
        if (!started || open !== undefined) flaws.push('a finish too early');
        if (!['stop', 'length', 'filter', 'tool', 'other'].includes(part.reason)) flaws.push('an unknown reason');
        break;
      case 'usage':
      case 'error':
        break;
      default:
        flaws.push(`a part of type ${part?.type}`);
    }
    if (part && isTerminal(part) && at !== parts.length - 1) flaws.push(`${part.type} is not the last`);
  }
  const last = parts.at(-1);
  if (!last || !isTerminal(last)) flaws.push('no end');
  return flaws;
}

describe('guard', () => {
  it('passes a whole answer on, its finish last', () => {
    const parts = [START, usage(0), OPEN, delta('Hello'), delta(' there'), CLOSE, FINISH, usage(2)];
    expect(pass([parts])).to.deep.equal([...parts.slice(0, 5), usage(2), CLOSE, FINISH]);
    expect(pass(parts.map((part) => [part]))).to.deep.equal(pass([parts]));
  });

  it('hands an array on as it is when nothing is taken from it', () => {
    const guard = new Guard();
    guard.push([START, OPEN]);
    const parts = [delta('a'), delta('b')];
    expect(guard.push(parts)).to.equal(parts);
    expect(parts).to.have.length(2);
  });

  it('makes one block of several in order', () => {
    const block = (index: number, ...texts: readonly string[]): ProviderPart[] => [
      { type: 'block-start', index, block: { type: 'text' } },
      ...texts.map((text) => delta(text, index)),
      { type: 'block-end', index },
    ];
    const arrays = [[START, ...block(0, 'one')], block(1, 'two', 'three'), block(2), block(3, 'four'), [FINISH]];
    const texts = ['one', 'two', 'three', 'four'].map((text) => delta(text));
    expect(pass(arrays)).to.deep.equal([START, OPEN, ...texts, CLOSE, FINISH]);
    expect(pass([arrays.flat()])).to.deep.equal(pass(arrays));
  });

  describe('with a limit', () => {
    const cutAt = (outputMax: number, arrays: readonly (readonly ProviderPart[])[]) => {
      const guard = new Guard({ outputMax });
      const passed = arrays.flatMap((parts) => guard.push(parts));
      return { guard, parts: [...passed, ...guard.end()] };
    };
    const CUT = { type: 'finish', reason: 'length', raw: 'cut at max_tokens' };

    it('cuts an answer when the count of its upstream passes it', () => {
      const { guard, parts } = cutAt(5, [
        [START, OPEN, delta('a'), usage(5)],
        [delta('b'), usage(6), delta('c')],
      ]);
      expect(parts).to.deep.equal([START, OPEN, delta('a'), usage(5), delta('b'), usage(6), CLOSE, CUT]);
      expect([guard.done, guard.finished]).to.deep.equal([true, true]);
      expect(guard.push([delta('d'), usage(9)])).to.deep.equal([]);
    });

    it('passes no counts on that come after the cut', () => {
      const guard = new Guard({ outputMax: 1 });
      guard.push([START, OPEN, delta('x'.repeat(17))]);
      expect([guard.done, guard.push([usage(9)])]).to.deep.equal([true, []]);
    });

    it('passes the first text on whatever was counted before it', () => {
      const { parts } = cutAt(5, [[START, usage(6), OPEN], [delta('a')], [delta('b')]]);
      expect(parts).to.deep.equal([START, usage(6), OPEN, delta('a'), CLOSE, CUT]);
    });

    it('cuts at sixteen characters a token whatever is counted, and tears no character', () => {
      const long = 'x'.repeat(30);
      expect(cutAt(2, [[START, OPEN, delta(long)], [delta('yyy')]]).parts.slice(2)).to.deep.equal([
        delta(long),
        delta('yy'),
        CLOSE,
        CUT,
      ]);
      expect(cutAt(2, [[START, OPEN, delta(`${'x'.repeat(31)}\u{1F600}z`)]]).parts.slice(2)).to.deep.equal([
        delta('x'.repeat(31)),
        CLOSE,
        CUT,
      ]);
      expect(cutAt(2, [[START, OPEN, delta('x'.repeat(32)), CLOSE, FINISH]]).guard.done).to.equal(false);
    });

    it('does not cut at a count that cannot be one', () => {
      const isCutAt = (count: number) =>
        cutAt(5, [
          [START, OPEN, delta('a'), usage(count)],
          [delta('b'), CLOSE, FINISH],
        ]).guard.done;
      expect([isCutAt(20), isCutAt(21)]).to.deep.equal([true, false]);
    });

    it('takes the ending that comes with the last count', () => {
      expect(
        cutAt(5, [
          [START, OPEN, delta('a')],
          [usage(6), CLOSE, FINISH],
        ]).parts.at(-1),
      ).to.deep.equal(FINISH);
    });

    it('does not cut what has ended, nor an answer of thoughts alone', () => {
      expect(cutAt(5, [[START, OPEN, delta('a'), CLOSE, FINISH, usage(9)]]).parts.at(-1)).to.deep.equal(FINISH);
      expect(cutAt(5, [[START, usage(9)], [FINISH]]).guard.done).to.equal(false);
    });
  });

  it('drops empty fragments and keeps the rest of their array', () => {
    const parts = [START, OPEN, delta(''), delta('a'), delta(''), CLOSE];
    expect(pass([parts, [FINISH]])).to.deep.equal([START, OPEN, delta('a'), CLOSE, FINISH]);
  });

  const breaches: Readonly<Record<string, readonly unknown[]>> = {
    'a second start': [START, START],
    'a block before the start': [OPEN],
    'the same block twice': [START, OPEN, CLOSE, OPEN],
    'a block of an unknown type': [START, { type: 'block-start', index: 0, block: { type: 'tool' } }],
    'a block without a type': [START, { type: 'block-start', index: 0 }],
    'a fragment before any block': [START, delta('a')],
    'a fragment without a number before any block': [START, { type: 'block-delta', text: 'a' }],
    'a fragment after its block': [START, OPEN, CLOSE, { type: 'block-delta', text: 'a' }],
    'a fragment of another block': [START, OPEN, delta('a', 1)],
    'a fragment that is no text': [START, OPEN, { type: 'block-delta', index: 0, text: 7 }],
    'a fragment without text': [START, OPEN, { type: 'block-delta', index: 0 }],
    'the end of a block that is not open': [START, CLOSE],
    'the end of no block at all': [START, { type: 'block-end' }],
    'the end of another block': [START, OPEN, { type: 'block-end', index: 1 }],
    'a finish before the start': [FINISH],
    'an error of its own': [START, { type: 'error', fault: new Error('mine') }],
    'text that nobody sees': [START, OPEN, { type: 'hidden', text: 'x' }],
    'a state outside its block': [START, { type: 'block-state', index: 0, state: { format: 'a', value: 'b' } }],
    'a state without its format': [START, OPEN, { type: 'block-state', index: 0, state: 'b' }],
    'a bill, which only the meter makes': [START, { type: 'billing', charged: 0n, reserved: 0n, balance: 10n ** 9n }],
    'an unknown part': [START, { type: 'image' }],
    'a part without a type': [START, {}],
    null: [null],
    undefined: [START, undefined],
    'a string': [START, 'text'],
    'a number': [START, 7],
    'an array of arrays': [[START]],
    'a name of every object': [{ type: 'constructor' }],
  };
  for (const [name, parts] of Object.entries(breaches)) {
    it(`ends the answer at ${name}`, () => {
      for (const arrays of [[parts], parts.map((part) => [part])]) {
        const passed = pass([...arrays, [START, OPEN, delta('more'), CLOSE, FINISH]]);
        expect(codeOf(passed)).to.equal('upstream_failed');
        const good = parts.slice(0, -1).filter((part) => part !== CLOSE);
        expect(passed.slice(0, -1)).to.deep.equal(good);
        expect(passed).to.have.length(good.length + 1);
      }
    });
  }

  it('never repeats what a provider said in its fault', () => {
    const passed = pass([[START, { type: 'sk-secret' }]]);
    const last = passed.at(-1);
    expect(last?.type === 'error' && last.fault.message).to.equal('The upstream provider failed.');
  });

  it('reads an unknown finish reason as another one', () => {
    for (const reason of ['constructor', 'max_tokens', null, undefined, 7]) {
      const finish = odd({ type: 'finish', reason, raw: 'word' });
      expect(pass([[START, OPEN, delta('a'), CLOSE, finish]]).at(-1)).to.deep.equal({
        type: 'finish',
        reason: 'other',
        raw: 'word',
      });
    }
  });

  describe('after the finish', () => {
    const whole = [START, OPEN, delta('a'), CLOSE, FINISH];

    it('passes on what still comes: text, calls, counts; the last reason counts', () => {
      const late = [
        { type: 'block-start', index: 1, block: { type: 'text' } } as const,
        delta('b', 1),
        { type: 'block-end', index: 1 } as const,
        usage(5),
        { type: 'finish', reason: 'length' } as const,
      ];
      expect(pass([whole, late])).to.deep.equal([
        START,
        OPEN,
        delta('a'),
        delta('b'),
        usage(5),
        CLOSE,
        { type: 'finish', reason: 'length' },
      ]);
    });

    it('does not let a plain end take a call back', () => {
      const call = { type: 'block-start', index: 1, block: { type: 'tool', id: 'x', name: 'f' } } as const;
      const parts: ProviderPart[] = [...whole.slice(0, 4), call, { type: 'block-end', index: 1 }];
      const reasons = (...words: string[]) => words.map((reason) => odd({ type: 'finish', reason }));
      expect(pass([[...parts, ...reasons('tool', 'stop')]]).at(-1)).to.deep.equal({ type: 'finish', reason: 'tool' });
      expect(pass([[...parts, ...reasons('tool', 'length')]]).at(-1)).to.deep.include({ reason: 'length' });
    });

    it('is complete whatever breaks off then, unless text has followed the finish', () => {
      const guard = new Guard();
      guard.push(whole);
      expect(guard.finished).to.equal(true);
      expect(guard.push([failure('upstream_timeout')])).to.deep.equal([]);
      expect(guard.done).to.equal(true);
      expect(guard.end()).to.deep.equal([CLOSE, FINISH]);

      const other = new Guard();
      other.push([...whole.slice(0, 3), FINISH, delta('b')]);
      expect(other.finished).to.equal(false);
      const error = failure('upstream_timeout');
      expect([...other.push([error]), ...other.end()]).to.deep.equal([error]);
    });

    it('is complete though nonsense follows', () => {
      for (const nonsense of [START, odd(null), odd({ type: 'nonsense' }), CLOSE]) {
        expect(pass([whole, [nonsense, delta('b')]])).to.deep.equal([...whole.slice(0, 3), CLOSE, FINISH]);
      }
    });

    it('keeps the answer when a part cannot even be read', () => {
      const trap = {
        get type(): string {
          throw new Error('read');
        },
      };
      expect(pass([whole, [odd(trap), usage(1)]])).to.deep.equal([...whole.slice(0, 3), CLOSE, FINISH]);
    });

    it('says it once', () => {
      const guard = new Guard();
      guard.push(whole);
      expect(guard.end()).to.have.length(2);
      expect([...guard.end(), ...guard.push([failure('internal'), usage(1)])]).to.deep.equal([]);
    });
  });

  describe('at the end of the source', () => {
    it('fails an answer without a terminal signal', () => {
      for (const parts of [[], [START], [START, OPEN, delta('a')], [START, OPEN, delta('a'), CLOSE]]) {
        expect(codeOf(pass([parts]))).to.equal('upstream_truncated');
      }
    });

    it('fails an answer without text and without output', () => {
      for (const more of [[], [usage(0)], [usage(Number.NaN)], [OPEN, delta(''), CLOSE], [odd({ type: 'usage' })]]) {
        expect(codeOf(pass([[START, ...more, FINISH]]))).to.equal('upstream_empty');
      }
    });

    it('takes a filter that leaves nothing for a refusal of the content', () => {
      const filtered = { ...FINISH, reason: 'filter' } as const;
      expect(codeOf(pass([[START, usage(0), filtered]]))).to.equal('upstream_content');
      expect(typesOf(pass([[START, usage(9), filtered]])).at(-1)).to.equal('finish');
    });

    it('does not take for output what is no number', () => {
      for (const output of ['9', true, [9], 9n, Symbol('9'), { valueOf: () => 9 }, null]) {
        expect(codeOf(pass([[START, odd({ type: 'usage', output }), FINISH]]))).to.equal('upstream_empty');
      }
    });

    it('takes an answer of output tokens alone, also when they are counted after the finish', () => {
      expect(typesOf(pass([[START, usage(9), FINISH]])).at(-1)).to.equal('finish');
      expect(typesOf(pass([[START, FINISH], [usage(9)]])).at(-1)).to.equal('finish');
    });

    it('goes by the last count', () => {
      expect(codeOf(pass([[START, usage(9), usage(0), FINISH]]))).to.equal('upstream_empty');
      expect(typesOf(pass([[START, usage(9), { type: 'usage', input: 4 }, FINISH]])).at(-1)).to.equal('finish');
    });
  });

  it('passes on what made the source break off, and nothing after it', () => {
    const guard = new Guard();
    guard.push([START, OPEN, delta('a')]);
    const error = failure('upstream_timeout');
    expect(guard.push([error, delta('b')])).to.deep.equal([error]);
    expect(guard.done).to.equal(true);
    expect([...guard.push([error]), ...guard.end(), ...guard.push([delta('b')])]).to.deep.equal([]);
  });

  describe('whatever a provider yields', () => {
    const index = fc.constantFrom(0, 1, 2, -1, 0.5, Number.NaN, undefined, '0');
    const likely = fc.oneof(
      fc.constant(START),
      fc.record({ type: fc.constant('block-start'), index, block: fc.constantFrom({ type: 'text' }, {}, null) }),
      fc.record({ type: fc.constant('block-delta'), index, text: fc.constantFrom('a', '', '\ud800', undefined, 7) }),
      fc.record({ type: fc.constant('block-end'), index }),
      fc.record({ type: fc.constant('image'), base64: fc.constantFrom(GIF.toString('base64'), 'AAAA', undefined) }),
      fc.record({ type: fc.constant('finish'), reason: fc.constantFrom('stop', 'length', 'no', undefined) }),
      fc.record({ type: fc.constant('usage'), output: fc.constantFrom(0, 3, -1, '3', null, undefined) }),
    );
    const image = { type: 'image', base64: GIF.toString('base64') };
    const valid = fc.constantFrom<unknown[]>([START], [OPEN], [image], [delta('a')], [CLOSE], [FINISH], [usage(1)]);
    const nonsense = fc.oneof(
      fc.anything(),
      fc.constantFrom({ type: 'error' }, { type: 'billing' }, { type: 'start' }),
    );
    const part = fc.oneof({ weight: 6, arbitrary: likely }, { weight: 1, arbitrary: nonsense });
    const array = fc.oneof(
      { weight: 8, arbitrary: fc.array(part, { maxLength: 5 }) },
      { weight: 12, arbitrary: valid },
    );

    it('obeys the grammar and ends with one finish or one error', () => {
      fc.assert(
        fc.property(fc.array(array, { maxLength: 12 }), fc.boolean(), (arrays, breaksOff) => {
          const guard = new Guard();
          const passed = arrays.flatMap((parts) => [...guard.push(parts as readonly ProviderPart[])]);
          if (breaksOff) passed.push(...guard.push([failure('upstream_failed')]));
          passed.push(...guard.end(), ...guard.push([failure('internal')]), ...guard.end());
          expect(flawsOf(passed)).to.deep.equal([]);
        }),
        { numRuns: longer(200, 3000) },
      );
    });

    it('is the same however the parts are cut into arrays', () => {
      fc.assert(
        fc.property(fc.array(part, { maxLength: 15 }), fc.nat(15), (parts, cut) => {
          const whole = pass([parts]);
          expect(typesOf(pass([parts.slice(0, cut), parts.slice(cut)]))).to.deep.equal(typesOf(whole));
          expect(typesOf(pass(parts.map((one) => [one])))).to.deep.equal(typesOf(whole));
        }),
        { numRuns: longer(200, 1000) },
      );
    });
  });
});
