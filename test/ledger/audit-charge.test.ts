// The problems that the audit finds in a charge and its entries, and in a job and its charge.
import { expect } from 'chai';
import { checkCharge } from '../../lib/ledger/audit-charge.ts';
import { checkJobs, checkPaidJobs } from '../../lib/ledger/audit-jobs.ts';
import type { Charge, Entry, Operation } from '../../lib/money/decide.ts';
import { textCost } from '../../lib/money/price.ts';
import type { JournalPage } from '../../lib/store/ports/journal.ts';
import type { Store } from '../../lib/store/store.ts';
import { type Kind, newBooks, operation, run } from './books.ts';

const PRICE = { input: 40_000_000n, output: 240_000_000n };
const PRICES = '{"input":"40000000","output":"240000000"}';
const USED = '{"tokens_input":1000,"tokens_output":2000}';
const COST = textCost(PRICE, { input: 1000, output: 2000 });

/** A charge of 10 RUB after these operations, with its entries. */
function rowsAfter(...kinds: readonly Kind[]): { charge: Charge; entries: readonly Entry[] } {
  const books = newBooks();
  run(books, operation('topup', 'p', 1000));
  for (const kind of kinds) {
    const op = { ...operation(kind, 'c', 10), ...(kind === 'settle' && { amount: COST, usage: USED }) };
    expect(run(books, { ...op, ...('prices' in op && { prices: PRICES }) } as Operation)).to.equal('done');
  }
  const entries = books.journal.filter(({ charge }) => charge === 'c');
  return { charge: books.charges.get('c') as Charge, entries };
}

const problemsOf = (charge: Charge | undefined, entries: readonly Entry[]) =>
  checkCharge({ wallet: 'w', charge, entries });

describe('the audit of a charge', () => {
  for (const kinds of [['reserve'], ['reserve', 'settle'], ['reserve', 'release'], ['reserve', 'settle', 'refund']]) {
    it(`finds nothing after ${kinds.join(', ')}, in any order of entries`, () => {
      const { charge, entries } = rowsAfter(...(kinds as Kind[]));
      expect(entries).to.have.length(kinds.length);
      expect(problemsOf(charge, entries)).to.deep.equal([]);
      expect(problemsOf(charge, entries.toReversed())).to.deep.equal([]);
    });
  }

  it('reports entries without a charge, with all their money as drift', () => {
    const problem = 'it has entries, but there is no charge';
    const held = rowsAfter('reserve').entries;
    expect(problemsOf(undefined, held)).to.deep.equal([{ problem, drift: 10_000_000n }]);
    const settled = rowsAfter('reserve', 'settle').entries;
    expect(problemsOf(undefined, settled)).to.deep.equal([{ problem, drift: COST }]);
    expect(problemsOf(undefined, settled.slice(1))).to.deep.equal([{ problem, drift: 10_000_000n + COST }]);
    const broken = { ...(held[0] as Entry), held: 5 as never };
    expect(problemsOf(undefined, [broken])).to.deep.equal([{ problem, drift: 0n }]);
    expect(problemsOf(undefined, [{ ...broken, held: 5n, charged: 5 as never }])).to.deep.equal([
      { problem, drift: 0n },
    ]);
  });

  it('knows the price of a service, which only a hold of a service has', () => {
    const { charge, entries } = rowsAfter('reserve');
    const held = (kind: Charge['kind'], prices: string) =>
      problemsOf({ ...charge, kind, prices }, entries).filter(({ problem }) => /^its /.test(problem));
    expect(held('service', '{"service":"10000000"}')).to.deep.equal([]);
    const wrong = 'its kind is text, but its prices are those of service';
    expect(held('text', '{"service":"10000000"}').map(({ problem }) => problem)).to.include(wrong);
    const other = 'its prices are {"service":"9000000"}, but it held 10000000';
    expect(held('service', '{"service":"9000000"}').map(({ problem }) => problem)).to.include(other);
  });

  it('accepts a free call only if it was repeated after its hold had expired', () => {
    const free = (...kinds: readonly Kind[]) => {
      const { charge, entries } = rowsAfter(...kinds);
      // Without the mark, which covers the original usage.
      const settle = { ...(entries.at(-1) as Entry), avail: 0n, charged: 0n, overshoot: 0n, mark: null };
      return { charge: { ...charge, charged: 0n }, entries: [...entries.slice(0, -1), settle] };
    };
    const { charge, entries } = free('reserve', 'expire', 'settle');
    const usageOf = (repeat: unknown) => JSON.stringify({ ...JSON.parse(USED), repeated_as: repeat });
    expect(problemsOf({ ...charge, usage: usageOf('d') }, entries)).to.deep.equal([]);
    expect(problemsOf(charge, entries)).to.deep.equal([
      { problem: `charged 0, but 1000 input + 2000 output tokens cost ${COST}` },
    ]);
    for (const repeat of ['c', 7, null]) {
      expect(problemsOf({ ...charge, usage: usageOf(repeat) }, entries)).to.deep.equal([
        { problem: `it says it was repeated as ${repeat}` },
      ]);
    }
    const paid = rowsAfter('reserve', 'expire', 'settle');
    const unmarked = paid.entries.map((entry) => ({ ...entry, mark: null }));
    expect(problemsOf({ ...paid.charge, usage: usageOf('d') }, unmarked)).to.deep.equal([
      { problem: `charged ${COST}, but it was repeated as d` },
    ]);
    expect(problemsOf({ ...paid.charge, usage: usageOf('d') }, paid.entries)[0]).to.deep.equal({
      problem: 'entry 4: its mark says another usage or time',
    });
    const held = free('reserve', 'settle');
    expect(problemsOf({ ...held.charge, usage: usageOf('d') }, held.entries)).to.deep.include({
      problem: 'it was repeated as d, but its hold has not expired',
    });
  });

  it('reports a charge with a wrong type', () => {
    const { charge, entries } = rowsAfter('reserve');
    expect(problemsOf({ ...charge, reserved: 10 as never }, entries)).to.deep.equal([
      { problem: 'it is not a valid charge' },
    ]);
  });

  it('reports a state and sums that differ from the entries, with the difference', () => {
    const { charge, entries } = rowsAfter('reserve', 'settle');
    expect(problemsOf({ ...charge, charged: COST + 5n }, entries)).to.deep.include({
      problem: `charged: ${COST + 5n} instead of ${COST}`,
      drift: 5n,
    });
    const held = { ...charge, state: 'held', charged: 0n, usage: null } as const;
    expect(problemsOf(held, entries)).to.deep.include({ problem: 'held: 10000000 instead of 0', drift: 10_000_000n });
    expect(problemsOf(held, entries)).to.deep.include({ problem: `charged: 0 instead of ${COST}`, drift: COST });
    expect(problemsOf({ ...charge, state: 'released' }, entries)).to.deep.include({
      problem: `charged: 0 instead of ${COST}`,
      drift: COST,
    });
  });

  it('reports a column that no entry explains, and a charge that no entry creates', () => {
    const { charge, entries } = rowsAfter('reserve');
    expect(problemsOf({ ...charge, createdAt: 999 }, entries)).to.deep.equal([
      { problem: 'createdAt: 999 instead of 1000' },
    ]);
    const texts = problemsOf(charge, []).map(({ problem }) => problem);
    expect(texts).to.deep.equal(['held: 10000000 instead of 0', 'no entry of w creates it']);
    const settled = rowsAfter('reserve', 'settle');
    expect(
      problemsOf(settled.charge, settled.entries.slice(1))
        .map(({ problem }) => problem)
        .join(),
    ).to.match(/entry 3: .*no entry of w creates it/);
  });

  const settled = rowsAfter('reserve', 'settle');
  /** The row and its entries agree: only the price shows the problem. */
  const priced: Readonly<Record<string, readonly [Partial<Charge>, string | undefined]>> = {
    'prices that are no object': [{ prices: '5' }, 'its prices are 5'],
    'prices that are null': [{ prices: 'null' }, 'its prices are null'],
    'prices that are no JSON': [{ prices: '{' }, 'its prices are {'],
    'prices of a text for an image': [{ kind: 'image' }, 'its kind is image, but its prices are those of text'],
    'usage that is no object': [{ usage: '7' }, 'its usage is 7'],
    'fewer tokens than were paid for': [
      { usage: '{"tokens_input":999,"tokens_output":2000}' },
      `charged ${COST}, but 999 input + 2000 output tokens cost ${textCost(PRICE, { input: 999, output: 2000 })}`,
    ],
    'an image that cost another price': [
      { kind: 'image', prices: '{"request":"7"}', usage: '{"images":1}' },
      `charged ${COST}, but 1 request cost 7`,
    ],
    'a video of another length': [
      { kind: 'video', prices: '{"second":"4000"}', usage: '{"seconds":5}' },
      `charged ${COST}, but 5 seconds cost 20000`,
    ],
    'a video that cost the price of another resolution': [
      { kind: 'video', prices: '{"second":{"720p":"9"}}', usage: '{"seconds":5,"resolution":"720p"}' },
      `charged ${COST}, but 5 seconds cost 45`,
    ],
    'prices of a video for an image': [
      { kind: 'edit', prices: '{"second":"9"}' },
      'its kind is edit, but its prices are those of video',
    ],
    'prices of an image for a text': [
      { prices: '{"request":"9"}' },
      'its kind is text, but its prices are those of image or edit or video',
    ],
    'a video without its seconds': [{ kind: 'video', prices: '{"second":"9"}', usage: '{"images":1}' }, undefined],
    'a negative number of tokens': [
      { usage: '{"tokens_input":-1,"tokens_output":2000}' },
      'its usage is {"tokens_input":-1,"tokens_output":2000}',
    ],
    'half a token': [
      { usage: '{"tokens_input":1000,"tokens_output":0.5}' },
      'its usage is {"tokens_input":1000,"tokens_output":0.5}',
    ],
    'tokens as a text': [
      { usage: '{"tokens_input":"1000","tokens_output":2000}' },
      'its usage is {"tokens_input":"1000","tokens_output":2000}',
    ],
    'usage without tokens': [{ usage: '{}' }, 'its usage is {}'],
    'a price that is no amount': [
      { prices: '{"input":"4e7","output":"1"}' },
      'its prices are {"input":"4e7","output":"1"}',
    ],
    'a price that is a number': [
      { prices: '{"input":40000000,"output":"1"}' },
      'its prices are {"input":40000000,"output":"1"}',
    ],
    'prices of embeddings for a text': [
      { prices: '{"input":"40000000"}' },
      'its kind is text, but its prices are those of embedding',
    ],
    'embeddings that cost another price': [
      { kind: 'embedding', prices: '{"input":"40000000"}', usage: '{"tokens_input":25000}' },
      `charged ${COST}, but 25000 tokens cost 1000000`,
    ],
    'embeddings below the minimum': [
      { kind: 'embedding', prices: '{"input":"40000000"}', usage: '{"tokens_input":1}' },
      `charged ${COST}, but 1 token cost 500000`,
    ],
    'embeddings without tokens': [{ kind: 'embedding', prices: '{"input":"40000000"}', usage: '{}' }, undefined],
  };
  for (const [name, [change, expected]] of Object.entries(priced)) {
    it(expected === undefined ? `cannot judge ${name}` : `finds ${name}`, () => {
      const found = problemsOf({ ...settled.charge, ...change }, settled.entries).map(({ problem }) => problem);
      const about = found.filter((text) => /^(its|charged \d)/.test(text));
      expect(about).to.deep.equal(expected === undefined ? [] : [expected]);
    });
  }

  it('does not check the price of a charge that was never settled', () => {
    const { charge, entries } = rowsAfter('reserve', 'release');
    const found = problemsOf({ ...charge, usage: USED }, entries).map(({ problem }) => problem);
    expect(found).to.deep.equal([`usage: ${USED} instead of null`]);
  });

  it('checks the price of a refunded charge', () => {
    const { charge, entries } = rowsAfter('reserve', 'settle', 'refund');
    const usage = '{"tokens_input":1,"tokens_output":1}';
    const found = problemsOf({ ...charge, usage }, entries).map(({ problem }) => problem);
    expect(found.join()).to.contain(`charged ${COST}, but 1 input + 1 output tokens cost`);
  });
});

describe('the audit of a call with audio, cached tokens and bands', () => {
  const RATES = { input: '2000000', cacheRead: '200000', cacheWrite: '2500000', cacheWrite1h: '4000000' };
  const BAND = { above: 1000, input: '4000000', audio: '7000000', cacheRead: '400000', output: '9000000' };
  const OTHER = { above: 100_000, input: '1', output: '1' };
  const VECTOR = {
    ...{ tokens_input: 300_001, tokens_audio: 200_001 },
    ...{ tokens_cache_read: 400_001, tokens_cache_write: 500_001 },
  };
  const LONG = { ...VECTOR, tokens_cache_write_1h: 600_001, tokens_output: 70_001, tokens_reasoning: 5 };
  /** In the band: a write costs what input does. */
  const LONG_COST = 4n * 1_400_003n + 7n * 200_001n + (4n * 400_001n) / 10n + 9n * 70_001n;
  const SHORT = { tokens_input: 1, tokens_cache_read: 999, tokens_output: 1_000_000 };

  function paid(usage: object, amount: bigint, prices: object) {
    const books = newBooks();
    run(books, operation('topup', 'p', 1000));
    const terms = { prices: JSON.stringify(prices) };
    run(books, { ...operation('reserve', 'c', 10), ...terms } as Operation);
    run(books, { ...operation('settle', 'c', 10), amount, usage: JSON.stringify(usage) } as Operation);
    // Without marks, only the calculation shows what was changed.
    const entries = books.journal.filter(({ charge }) => charge === 'c').map((entry) => ({ ...entry, mark: null }));
    return { charge: books.charges.get('c') as Charge, entries };
  }
  const long = () => paid(LONG, LONG_COST, { ...RATES, output: '5000000', bands: [BAND] });
  const short = () => paid(SHORT, 5_000_202n, { ...RATES, output: '5000000', bands: [BAND] });

  it('finds nothing in what was charged by the vector, the band and its prices', () => {
    for (const { charge, entries } of [long(), short()]) expect(problemsOf(charge, entries)).to.deep.equal([]);
  });

  it('finds every changed count that has a price, and every one that is none', () => {
    for (const { charge, entries } of [long(), short()]) {
      const used = JSON.parse(charge.usage as string) as Record<string, number>;
      for (const [name, count] of Object.entries(used)) {
        const found = (value: unknown) =>
          problemsOf({ ...charge, usage: JSON.stringify({ ...used, [name]: value }) }, entries).length;
        // Reasoning is part of the output, and has no price of its own.
        if (name !== 'tokens_reasoning') expect(found(count + 10), name).to.equal(1);
        for (const value of [-1, 0.5, '7', null]) expect(found(value), `${name} ${value}`).to.equal(1);
      }
    }
  });

  it('finds every changed price of the band that counts, and a changed or missing band', () => {
    const { charge, entries } = long();
    const prices = JSON.parse(charge.prices);
    const found = (changed: object) => problemsOf({ ...charge, prices: JSON.stringify(changed) }, entries);
    const withBand = (band: object) => ({ ...prices, bands: [{ ...BAND, ...band }] });
    for (const name of ['input', 'audio', 'cacheRead', 'output']) {
      expect(found(withBand({ [name]: '4000001' })), name).to.have.length(1);
    }
    const [first] = found(withBand({ input: '4000001' }));
    expect(first?.problem).to.contain(
      '300001 input + 200001 audio + 400001 cacheRead + 500001 cacheWrite + 600001 cacheWrite1h + ',
    );
    for (const bands of [[], undefined, [{ ...BAND, above: 2_500_000 }], [BAND, OTHER], 'x', [null], [{ above: 1 }]])
      expect(found({ ...prices, bands }), JSON.stringify(bands)).to.have.length(1);
    for (const above of ['1000', 0.5, null]) expect(found(withBand({ above })), `${above}`).to.have.length(1);
    // A band that the prompt does not reach.
    expect(found({ ...prices, bands: [BAND, { ...OTHER, above: 3_000_000 }] })).to.deep.equal([]);
  });

  it('finds a changed price of a call below the bands', () => {
    const { charge, entries } = short();
    const prices = JSON.parse(charge.prices);
    for (const name of ['input', 'cacheRead', 'output']) {
      const changed = { ...prices, [name]: `${BigInt(prices[name]) + 1_000_000n}` };
      expect(problemsOf({ ...charge, prices: JSON.stringify(changed) }, entries), name).to.have.length(1);
    }
  });
});

describe('the audit of jobs', () => {
  const job = (id: number, more: object = {}) =>
    ({ id: `job_${1000 + id}`, wallet: `w${id}`, charge: `c${id}`, phase: 'completed', ...more }) as never;
  type Row = { readonly id: string; readonly wallet: string };

  async function problemsOfJobs(
    jobs: readonly Row[],
    charges: (id: string) => object | undefined,
    again = jobs,
    lastAt?: number,
  ) {
    const pages: string[] = [];
    const store = {
      jobs: {
        page: async ({ after, limit }: { after: string; limit: number }) => {
          pages.push(after);
          return jobs.filter(({ id }) => id > after).slice(0, limit);
        },
        get: async (id: string) => again.find((row) => row.id === id),
      },
      ledger: { charge: async (id: string) => charges(id) },
      attempts: { list: async () => [] },
    } as unknown as Pick<Store, 'jobs' | 'ledger' | 'attempts'>;
    const problems: string[] = [];
    const times = { lastAt: lastAt ?? Number.NEGATIVE_INFINITY, attemptsSince: Number.POSITIVE_INFINITY };
    await checkJobs(store, (wallet, text) => problems.push(`${wallet}: ${text}`), times);
    return { problems, pages };
  }
  const chargeOf = (id: string, more: object = {}) => ({ id, wallet: id.replace('c', 'w'), state: 'settled', ...more });

  it('reports a job whose charge is missing, belongs to another wallet, or ended differently', async () => {
    const jobs = [job(1), job(2), job(3), job(4, { phase: 'failed' }), job(5, { phase: 'failed' }), job(6)];
    const charges: Readonly<Record<string, object | undefined>> = {
      c2: chargeOf('c2', { wallet: 'v' }),
      c3: chargeOf('c3', { state: 'refunded' }),
      c4: chargeOf('c4'),
      c5: chargeOf('c5', { state: 'refunded' }),
      c6: chargeOf('c6'),
    };
    expect((await problemsOfJobs(jobs, (id) => charges[id])).problems).to.deep.equal([
      'w1: job job_1001: there is no charge c1',
      'w2: job job_1002: its charge c2 is of v',
      'w3: job job_1003: it is completed, and its charge c3 is refunded',
      'w4: job job_1004: it is failed, and its charge c4 is settled',
    ]);
  });

  it('reports a job with another model than its charge', async () => {
    const found = await problemsOfJobs([job(1, { model: 'a' })], (id) => chargeOf(id, { model: 'b' }));
    expect(found.problems).to.deep.equal(['w1: job job_1001: its model is a, and its charge c1 is of b']);
  });

  it('reports a job that runs long after its deadline in a store that is in use', async () => {
    const running = job(1, { phase: 'running', endedAt: null, deadline: 0 });
    const hour = 3_600_000;
    const late = 'w1: job job_1001: it has not ended, and its deadline was 1970-01-01T00:00:00.000Z';
    const found = async (lastAt: number | undefined, again: Row) =>
      (await problemsOfJobs([running], (id) => chargeOf(id), [again], lastAt)).problems;
    expect(await found(hour + 1, running)).to.deep.equal([late]);
    expect(await found(hour, running)).to.deep.equal([]);
    expect(await found(undefined, running), 'in a store without a newer entry').to.deep.equal([]);
    expect(await found(hour + 1, job(1, { endedAt: 5 })), 'ended meanwhile').to.deep.equal([]);
  });

  it('reports a paid job that is missing or belongs to another call', async () => {
    const entry = (charge: string, mark: string | null, kind = 'charge') => ({ kind, wallet: 'w', charge, mark });
    const videos = ['c1', 'c2', 'c3', 'req_4', 'c5'].map((id) => ({ id, kind: 'video' }));
    const marked = (id: string) => `${'0'.repeat(16)}${id}`;
    const page = {
      charges: videos,
      entries: [
        ...[entry('c1', marked('job_1')), entry('c2', marked('job_2')), entry('c3', '0'.repeat(16))],
        ...[entry('req_4', null), entry('c5', null), entry('c1', marked('job_9'), 'refund'), entry('gone', null)],
      ],
    } as unknown as JournalPage;
    const jobs: Readonly<Record<string, object>> = { job_1: { charge: 'c9' } };
    const store = { jobs: { get: async (id: string) => jobs[id] } } as unknown as Pick<Store, 'jobs'>;
    const problems: string[] = [];
    await checkPaidJobs(store, page, (wallet, text) => problems.push(`${wallet}: ${text}`));
    expect(problems).to.deep.equal([
      'w: call c1: its job job_1 is of c9',
      'w: call c2: it paid for the job job_2, but there is none',
      'w: call req_4: it paid for the job vid_4, but there is none',
    ]);
  });

  it('reads all pages of jobs', async () => {
    const jobs = Array.from({ length: 101 }, (_, at) => job(at));
    const found = await problemsOfJobs(jobs, (id) => (id === 'c100' ? undefined : chargeOf(id)));
    expect(found.problems).to.deep.equal(['w100: job job_1100: there is no charge c100']);
    expect(found.pages).to.deep.equal(['', 'job_1049', 'job_1099']);
  });

  it('compares again if a running gateway may have changed the rows', async () => {
    const refunded = (id: string) => chargeOf(id, { state: 'refunded' });
    expect((await problemsOfJobs([job(1)], refunded, [job(1, { phase: 'failed' })])).problems).to.deep.equal([]);
    expect((await problemsOfJobs([job(1)], refunded, [])).problems).to.deep.equal([]);
  });
});
