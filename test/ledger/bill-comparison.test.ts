// A vendor's bill against booked attempts: sums by day and model, and the calls behind a difference.
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import { compareBill, differs } from '../../lib/ledger/bill-comparison.ts';
import { readBill } from '../../lib/ledger/vendor-bill.ts';
import { type Attempt, type NewAttempt, toAttemptRows } from '../../lib/money/attempt.ts';
import type { AttemptPage } from '../../lib/store/ports/attempts.ts';
import { newAttempt } from '../contract/store/context.ts';

const AT = Date.parse('2026-11-26T12:00:00Z');
const COST = newAttempt().cost as NonNullable<NewAttempt['cost']>;

describe('the comparison with a bill', () => {
  let rows: Attempt[];
  beforeEach(() => {
    rows = [];
  });

  function book(...attempts: readonly Partial<NewAttempt>[]): void {
    const made = attempts.map((attempt) => newAttempt({ at: AT, upstreamModel: 'model-x', ...attempt }));
    rows.push(...toAttemptRows({ charge: `req_${rows.length}`, wallet: 'acc' }, made));
  }

  const attempts = {
    page: async ({ from = 0, to = 0, after, limit }: AttemptPage) => {
      const inSpan = rows.filter(({ at }) => at >= from && at < to);
      const start = after
        ? inSpan.findIndex((row) => row.charge === after.charge && row.number === after.number) + 1
        : 0;
      return inSpan.slice(start, start + limit);
    },
  };
  const compare = (bill: readonly string[], options: { upstream?: string; currency?: string } = {}) =>
    compareBill(attempts, readBill(bill.join('\n')), { currency: 'USD', ...options });

  it('adds up both sides by day and model, and finds no difference where there is none', async () => {
    for (let count = 0; count < 1500; count += 1) book({});
    book({ certainty: 'none', usage: null, cost: null });
    book({ at: AT - DAY_MS }, { at: AT + DAY_MS });
    // 1500 × 10 and 20 tokens at 50 micro-dollars.
    const { rows: found, calls } = await compare([
      'day,model,input_tokens,output_tokens,cost',
      '2026-11-26,model-x,15000,30000,0.075',
    ]);
    expect(found).to.deep.equal([
      {
        day: '2026-11-26',
        model: 'model-x',
        billed: { requests: 0, promptTokens: 15_000, outputTokens: 30_000, cost: 75_000n },
        booked: {
          requests: 1500,
          promptTokens: 15_000,
          outputTokens: 30_000,
          reported: 75_000n,
          estimated: 0n,
          possible: 0n,
        },
        difference: 0n,
      },
    ]);
    expect([found.filter(differs), calls]).to.deep.equal([[], []]);
  });

  it('names the attempts that may be behind a difference, where the bill has no single calls', async () => {
    book({}, { certainty: 'possible', ending: 'timeout' });
    book({ certainty: 'estimated', ending: 'left' });
    const { rows: found, calls } = await compare(['day,model,cost', '2026-11-26,model-x,0.00013']);
    expect(found[0]).to.deep.include({ difference: 30n });
    expect(found[0]?.booked).to.include({ reported: 50n, estimated: 50n, possible: 50n });
    expect(calls.map(({ attempt }) => attempt?.ending)).to.deep.equal(['timeout', 'left']);
  });

  it('names calls that only one side has, and those with another cost, where the bill has single calls', async () => {
    book({ requestId: 'gen-1' });
    book({ requestId: 'gen-2' });
    book({ requestId: 'gen-3', certainty: 'estimated' });
    const bill = [
      'generation_id,created_at,cost_total,model',
      'gen-1,2026-11-26,0.00005,model-x',
      'gen-2,2026-11-26,0.00006,model-x',
      'gen-4,2026-11-26,0.00007,model-x',
    ];
    const { rows: found, calls } = await compare(bill);
    expect(found[0]?.billed).to.deep.equal({ requests: 3, promptTokens: null, outputTokens: null, cost: 180n });
    expect(calls.map(({ requestId, attempt, billed }) => [requestId, attempt?.cost?.cost, billed])).to.deep.equal([
      ['gen-2', 50n, 60n],
      ['gen-3', 50n, undefined],
      ['gen-4', undefined, 70n],
    ]);
  });

  it('rounds what the lines of a day cost together, not each of them', async () => {
    const billed = async (...costs: readonly string[]) => {
      const { rows: found } = await compare(['day,model,cost', ...costs.map((cost) => `2026-11-26,model-x,${cost}`)]);
      return found[0]?.billed.cost;
    };
    expect(await billed('0.0000003', '0.0000002')).to.equal(1n);
    expect(await billed('0.0000003', '0.000000199999')).to.equal(0n);
  });

  it('knows a model by the name with the date of its version', async () => {
    book({});
    const { rows: found } = await compare([
      'day,model,cost',
      '2026-11-26,model-x-20260910,0.00005',
      '2026-11-26,model-x-mini,1',
    ]);
    expect(found.map(({ model, difference }) => [model, difference])).to.deep.equal([
      ['model-x-20260910', 0n],
      ['model-x-mini', 1_000_000n],
    ]);
  });

  it('leaves out attempts at other models or upstreams, and costs in another currency', async () => {
    book({ upstreamModel: 'model-y' });
    book({ upstream: 'other' });
    book({ cost: { ...COST, currency: 'EUR' } });
    const bill = ['day,model,cost', '2026-11-26,model-x,0.00005'];
    const any = await compare(bill);
    expect(any.rows.map(({ booked }) => [booked.requests, booked.reported])).to.deep.equal([[2, 50n]]);
    const one = await compare(bill, { upstream: 'vendor' });
    expect(one.rows.map(({ model, booked }) => [model, booked.requests, booked.reported])).to.deep.equal([
      ['model-x', 1, 0n],
      ['model-y', 1, 50n],
    ]);
    expect(one.rows[1]?.difference).to.equal(null);
  });

  it('counts the tokens that were used, as far as they are known', async () => {
    const tokens = async (...booked: readonly Partial<NewAttempt>[]) => {
      rows = [];
      book(...booked);
      const { rows: found } = await compare(['day,model,cost', '2026-11-26,model-x,1']);
      return [found[0]?.booked.promptTokens, found[0]?.booked.outputTokens];
    };
    expect(await tokens({}, {})).to.deep.equal([20, 40]);
    expect(await tokens({}, { certainty: 'possible' })).to.deep.equal([10, 20]);
    expect(await tokens({}, { usage: null })).to.deep.equal([10, 20]);
    expect(await tokens({ usage: '{"tokens_input":7}' })).to.deep.equal([7, 0]);
    expect(await tokens({ usage: '{"images":1}' })).to.deep.equal([0, 0]);
  });

  it('compares tokens where the bill has no costs', async () => {
    book({});
    const same = await compare(['day,model,input_tokens,output_tokens', '2026-11-26,model-x,10,20']);
    const other = await compare(['day,model,input_tokens,output_tokens', '2026-11-26,model-x,10,21']);
    expect([same, other].map(({ rows: found }) => found.filter(differs).length)).to.deep.equal([0, 1]);
  });
});
