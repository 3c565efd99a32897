// Usage exports of vendors, with the columns that each of them has, and files that are no bill.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { type BillLine, readBill } from '../../lib/ledger/vendor-bill.ts';

const lines = (...rows: readonly string[]) => readBill(rows.join('\n'));
const LINE: BillLine = {
  day: '2026-11-26',
  model: 'model-x',
  requestId: null,
  requests: 0,
  promptTokens: null,
  outputTokens: null,
  cost: null,
  currency: null,
};

describe('bills of vendors', () => {
  it('are read from sums per model and hour, whose input includes what was cached', () => {
    const head =
      'start_time\tend_time\tstart_time_iso\tend_time_iso\tproject_id\tnum_model_requests\tmodel\tinput_tokens\toutput_tokens\tinput_cached_tokens\tinput_uncached_tokens';
    const row = '1\t2\t2026-11-26T00:00:00+00:00\t2026-11-27T00:00:00+00:00\t\t7\tmodel-x\t900\t80\t300\t600';
    const idle = '1\t2\t2026-11-27T00:00:00+00:00\t2026-11-28T00:00:00+00:00\t\t\t\t\t\t\t';
    expect(lines(head, row, idle)).to.deep.equal([{ ...LINE, requests: 7, promptTokens: 900, outputTokens: 80 }]);
  });

  it('are read from sums per day with each kind of token apart', () => {
    const head =
      'usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,' +
      'usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,' +
      'usage_output_tokens,web_search_count';
    const row = '2026-11-26,model-x,"key, one",Default,standard,≤ 200k,100,20,3,4000,50,0';
    expect(lines(head, row)).to.deep.equal([{ ...LINE, promptTokens: 4123, outputTokens: 50 }]);
  });

  it('are read from single calls with their cost', () => {
    const head = 'generation_id,created_at,cost_total,tokens_prompt,tokens_completion,model_permaslug,provider_name';
    const row = 'gen-1,2026-11-26 23:59:59.713,0.0000123,10389,137,vendor/model-x,Someone';
    expect(lines(head, row)).to.deep.equal([
      {
        ...LINE,
        model: 'vendor/model-x',
        requestId: 'gen-1',
        requests: 1,
        promptTokens: 10_389,
        outputTokens: 137,
        cost: 12_300_000n,
      },
    ]);
  });

  it('are read from costs with their currency, and from any table with a day and a model', () => {
    const costs = [
      'start_time_iso,amount_value,amount_currency,model',
      '2026-11-26T00:00:00Z,0.8958740000000000,usd,model-x',
    ];
    expect(lines(...costs)[0]).to.include({ cost: 895_874_000_000n, currency: 'USD' });
    const own = ['\ufeffDay;Model;Tokens_input;Tokens_output;Cost', '2026-11-26;"model-x";1;2;"1,234.5"', ''];
    expect(lines(...own)).to.deep.equal([{ ...LINE, promptTokens: 1, outputTokens: 2, cost: 1_234_500_000_000_000n }]);
    const tiny = ['day,model,cost', '2026-11-26,"a ""b""",1e-7'];
    expect(lines(...tiny)[0]).to.include({ model: 'a "b"', cost: 100_000n });
  });

  it('may count nothing, and not every kind of token', () => {
    const head = 'day,model,num_model_requests,usage_input_tokens_no_cache,usage_output_tokens';
    const none = { ...LINE, requests: 0, promptTokens: 0, outputTokens: 0 };
    expect(lines(head, '2026-11-26,model-x,0,0,0')).to.deep.equal([none]);
    expect(lines(head, '2026-11-26,model-x,,7,')).to.deep.equal([{ ...LINE, promptTokens: 7 }]);
  });

  it('count a time with a zone in UTC', () => {
    expect(lines('created_at,model', '2026-11-27 01:00:00+03:00,model-x')[0]?.day).to.equal('2026-11-26');
  });

  const wrong: readonly [what: string, rows: readonly string[]][] = [
    ['The bill has no lines.', []],
    ['The bill has no lines.', ['day,model']],
    ['The bill has no column for the day: name it usage_date_utc', ['when,model', '1,x']],
    ['The bill has no column for the model: name it model_version', ['day,cost', '2026-11-26,1']],
    ['Line 3 of the bill: "soon" is not a day.', ['day,model', '2026-11-26,x', 'soon,x']],
    ['Line 2 of the bill: "2026-13-41" is not a day.', ['day,model', '2026-13-41,x']],
    ['Line 2 of the bill: -1 is not a count.', ['day,model,output_tokens', '2026-11-26,x,-1']],
    ['Line 2 of the bill: -1 is not an amount.', ['day,model,cost', '2026-11-26,x,-1']],
    // A decimal comma: without it the amount would be five times, or a hundred times, as much.
    ['Line 2 of the bill: 0,5 is not an amount.', ['day;model;cost', '2026-11-26;x;0,5']],
    ['Line 2 of the bill: 1.234,56 is not an amount.', ['day;model;cost', '2026-11-26;x;1.234,56']],
    [
      'The bill is in USD and EUR: compare a file of each currency by itself.',
      ['day,model,cost,currency', '2026-11-26,x,1,USD', '2026-11-26,x,1,eur'],
    ],
  ];
  for (const [what, rows] of wrong) {
    it(`refuse a file: ${what}`, () => {
      expect(() => lines(...rows)).to.throw(OperatorError, what);
    });
  }
});
