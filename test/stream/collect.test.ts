import { expect } from 'chai';
import { fault } from '../../lib/base/faults.ts';
import { createCollector, replyText } from '../../lib/stream/collect.ts';
import type { BillingPart, StreamPart } from '../../lib/stream/part.ts';

const HEAD: StreamPart[] = [
  { type: 'usage', input: 5, output: 0 },
  { type: 'start', id: 'req_1', model: 'model-a' },
];
const BILLING: BillingPart = {
  type: 'billing',
  charged: 500_000n,
  reserved: 900_000n,
  balance: 1n,
  priceInput: 40n,
  priceOutput: 240n,
};
const TAIL: StreamPart[] = [{ type: 'usage', input: 7, output: 3 }, { type: 'finish', reason: 'length' }, BILLING];

const block = (index: number, ...texts: string[]): StreamPart[] => [
  { type: 'block-start', index, block: { type: 'text' } },
  ...texts.map((text): StreamPart => ({ type: 'block-delta', index, text })),
  { type: 'block-end', index },
];

describe('collector', () => {
  it('folds an answer into one reply', () => {
    const { write, reply } = createCollector();
    write([...HEAD, ...block(0, 'Hel', 'lo', ' 👋')]);
    write(block(1, 'again'));
    write(block(2));
    write(TAIL);
    expect(reply()).to.deep.equal({
      id: 'req_1',
      model: 'model-a',
      blocks: ['Hello 👋', 'again', ''].map((text) => ({ type: 'text', text })),
      usage: { input: 7, output: 3 },
      reason: 'length',
      billing: BILLING,
    });
  });

  it('says which stop string ended the answer, and how smart chose, where that is known', () => {
    const smart = { tier: 'lite', score: 3, signals: ['short'] } as const;
    const { write, reply } = createCollector();
    write([{ type: 'start', id: 'req_2', model: 'model-b', smart }, ...block(0, 'a')]);
    write([{ type: 'finish', reason: 'stop', sequence: 'END' }, BILLING]);
    expect(reply()).to.deep.include({ sequence: 'END', smart, reason: 'stop', usage: {} });
  });

  it('keeps all citations of a block, and each of its own', () => {
    const { write, reply } = createCollector();
    const cite = (index: number, title: string): StreamPart => ({ type: 'block-citation', index, citation: { title } });
    const [open = BILLING, ...rest] = block(0, 'a');
    write([{ type: 'start' }, open, cite(0, 'A'), cite(0, 'B'), ...rest, ...block(1, 'b'), ...TAIL]);
    expect(reply()).to.deep.include({
      id: '',
      model: '',
      blocks: [
        { type: 'text', text: 'a', citations: [{ title: 'A' }, { title: 'B' }] },
        { type: 'text', text: 'b' },
      ],
    });
  });

  it('has a text, which is that of its text blocks alone', () => {
    const { write, reply } = createCollector();
    const call = { type: 'tool', id: 'call_1', name: 'find' } as const;
    write([...HEAD, ...block(0, 'one '), { type: 'block-start', index: 1, block: call }]);
    write([
      { type: 'block-delta', index: 1, text: '{}' },
      { type: 'block-end', index: 1 },
      ...block(2, 'two'),
      ...TAIL,
    ]);
    expect(replyText(reply())).to.equal('one two');
  });

  it('is the same however the parts are cut', () => {
    const parts = [...HEAD, ...block(0, 'a', 'b'), ...TAIL];
    const whole = createCollector();
    const single = createCollector();
    whole.write(parts);
    for (const part of parts) single.write([part]);
    expect(single.reply()).to.deep.equal(whole.reply());
  });

  it('goes by the last counts', () => {
    const { write, reply } = createCollector();
    const counts = { input: 9, cacheRead: 5, cacheWrite: 3, cacheWrite1h: 1, output: 2, reasoning: 1 };
    write([...HEAD, ...block(0, 'a'), { type: 'usage', ...counts }, BILLING]);
    expect(reply().usage).to.deep.equal(counts);
    write([{ type: 'usage', input: 18, output: 3 }]);
    expect(reply().usage).to.deep.equal({ input: 18, output: 3 });
  });

  it('has no reply before the bill', () => {
    const { write, reply } = createCollector();
    write([...HEAD, ...block(0, 'a'), { type: 'finish', reason: 'stop' }]);
    expect(reply).to.throw('not complete');
  });

  it('throws the fault of an answer that failed', () => {
    const { write } = createCollector();
    const reason = fault('upstream_timeout');
    expect(() => write([...HEAD, { type: 'error', fault: reason }])).to.throw(reason.message);
  });
});
