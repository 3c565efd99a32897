// Calls with failures, cuts, fallbacks and abandoned streams against a vendor that keeps its own bill: what was booked
// agrees with it.
import { expect } from 'chai';
import { compareBill } from '../../lib/ledger/bill-comparison.ts';
import { reportCosts } from '../../lib/ledger/cost-report.ts';
import { readBill } from '../../lib/ledger/vendor-bill.ts';
import {
  type BillingVendor,
  promptFor,
  startBillingVendor,
  VENDOR_MOODS,
  type VendorMood,
} from '../../testkit/billing-vendor.ts';
import { ask, CHAT, MESSAGES, open, readHead, send, until } from '../../testkit/client.ts';
import { checkCosts } from '../../testkit/cost-books.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';

const CALLS = longer(100, 2000);
const AT_ONCE = 16;
/** How many of a hundred calls the vendor answers in each of its moods; a tenth of the good ones is abandoned. */
const SHARES: Readonly<Record<VendorMood, number>> = { fine: 70, refuse: 5, fail: 8, silent: 3, busy: 4, break: 10 };

describe("the books against a vendor's bill", () => {
  let vendor: BillingVendor;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    vendor = await startBillingVendor();
    const settings = { baseUrl: `${vendor.upstream.url}/v1`, apiKey: 'k' };
    const cost = { currency: 'USD', input: '1', output: '4' };
    const routes = ['one', 'two'].map((upstream) => ({ upstream, model: 'up-model', cost }));
    const upstream = { plugin: 'openai-compatible', settings };
    const price = { input: '1000', output: '5000' };
    gateway = await startGateway({
      catalog: {
        upstreams: { one: upstream, two: upstream },
        rates: { USD: { rub: '100', from: '2026-01-01' } },
        models: [{ id: 'model-a', type: 'text', provider: 'Test', price, routes }],
      },
      env: { FIRST_TOKEN_TIMEOUT_MS: '2000' },
    });
    account = await gateway.account('1000000');
  });
  after(async () => {
    await gateway.stop();
    await vendor.upstream.close();
  });

  /** The same calls in every run. */
  function planCall(id: number): { readonly mood: VendorMood; readonly length: number; readonly leaves: boolean } {
    let share = (id * 37) % 100;
    const mood = VENDOR_MOODS.find((each) => {
      share -= SHARES[each];
      return share < 0;
    });
    return { mood: mood ?? 'fine', length: 40 + ((id * 61) % 400), leaves: mood === 'fine' && id % 10 === 3 };
  }

  async function makeCall(id: number): Promise<void> {
    const { mood, length, leaves } = planCall(id);
    const path = id % 2 === 0 ? CHAT : MESSAGES;
    const body = ask(promptFor(id, mood, length), { stream: leaves || id % 3 > 0, max_tokens: 1000 });
    if (!leaves) return void (await send(gateway.url + path, { key: account.key, body }));
    const request = open(gateway.url + path, { key: account.key, body });
    const reply = await readHead(request);
    let events = 0;
    for await (const _ of reply) {
      events += 1;
      if (events > 5) break;
    }
    request.destroy();
  }

  it('are within a hundredth of it, and what is possible covers the rest', async function () {
    this.timeout(longer(60_000, 600_000));
    const ids = Array.from({ length: CALLS }, (_, id) => id);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop()) await makeCall(id);
      }),
    );
    await until(async () => (await gateway.wallet(account)).held === 0n);
    await gateway.checkMoney();
    const { total } = await reportCosts(gateway.store.attempts, { by: 'model' });
    const bill = vendor.bill();
    const usd = (rub: bigint) => Number(rub) / 100;
    const booked = usd(total.reported + total.estimated);
    expect(booked / Number(bill.certain), `${booked} of ${bill.certain}`).to.be.within(0.99, 1.01);
    const rest = Number(bill.certain + bill.doubtful) - booked;
    expect(usd(total.possible)).to.be.at.least(rest);
    // The campaign was worth something.
    expect(total.estimated > 0n && total.possible > 0n && bill.doubtful > 0n).to.equal(true);
    expect(total.attempts).to.be.above(CALLS);
    const problems = await checkCosts(gateway.store, ({ state }) => (state === 'released' ? [0, 1, 2] : [1, 2]));
    expect(problems).to.deep.equal([]);
  });

  it('name in a comparison the calls that the vendor bills otherwise', async () => {
    const { csv } = vendor.bill();
    const { rows, calls } = await compareBill(gateway.store.attempts, readBill(csv), { currency: 'USD' });
    const [row] = rows;
    expect(rows).to.have.length(1);
    const difference = Number(row?.difference);
    expect(Math.abs(difference) / Number(row?.billed.cost)).to.be.below(0.02);
    // Whole answers have the vendor's own count.
    expect(calls.filter(({ attempt }) => attempt?.certainty === 'reported')).to.deep.equal([]);
  });
});
