// What accounts get each month: once, whole, until the month ends in their time zone.
import { expect } from 'chai';
import { createAllowanceSweep } from '../../lib/accounts/allowances.ts';
import { endDueGrants } from '../../lib/ledger/grant-sweep.ts';
import { parseGrantBook } from '../../lib/money/grants.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { endGrant, newWallet, problemsOf, RUB, walletOf } from '../contract/store/context.ts';

const MOSCOW = 3 * 3_600_000;
const NOVEMBER_END = Date.UTC(2026, 11, 1) - MOSCOW;
const DECEMBER_END = Date.UTC(2027, 0, 1) - MOSCOW;
const allowance = { amount: 5n * RUB, reason: 'staff' };

describe('the allowance of a month', () => {
  let opened: FaultyStore;
  let wallet: string;
  let failed: string[];

  beforeEach(async () => {
    opened = await openFaultyStore();
    failed = [];
    wallet = await newWallet(opened.real);
    await opened.real.accounts.setAllowance(wallet, allowance);
  });
  afterEach(() => opened.close());

  const createSweep = () => createAllowanceSweep(opened.store, (_error, account) => failed.push(account));

  async function expectBook(...grants: readonly (readonly [month: string, left: bigint, until: number])[]) {
    const { grants: book, avail } = await walletOf(opened.real, wallet);
    const wanted = grants.map(([month, left, until]) => ({ id: `monthly:${wallet}:${month}`, left, until }));
    expect(parseGrantBook(book)).to.deep.equal(wanted);
    expect(avail).to.equal(1000n * RUB + grants.reduce((sum, [, left]) => sum + left, 0n));
    expect(await problemsOf(opened.real, wallet)).to.deep.equal([]);
  }

  it('is given once by several gateways, and again in the next month, when the rest has ended', async () => {
    const sweeps = [createSweep(), createSweep(), createSweep()];
    const give = async (now: number) => {
      const counts = await Promise.all(sweeps.map((sweep) => sweep.give(now)));
      return counts.reduce((sum, count) => sum + count);
    };
    expect(await give(NOVEMBER_END - 1)).to.equal(1);
    await expectBook(['2026-11', 5n * RUB, NOVEMBER_END]);
    expect(await give(NOVEMBER_END - 1)).to.equal(0);
    const { length } = opened.batches;
    await give(NOVEMBER_END - 1);
    expect(opened.batches, 'asks nobody again').to.have.length(length);
    await endDueGrants(opened.store, NOVEMBER_END, expect.fail);
    expect(await give(NOVEMBER_END)).to.equal(1);
    await expectBook(['2026-12', 5n * RUB, DECEMBER_END]);
    expect(failed).to.deep.equal([]);
  });

  it('keeps the month as it was given when it changes, is revoked, or is removed', async () => {
    const sweep = createSweep();
    await sweep.give(NOVEMBER_END);
    await opened.real.accounts.setAllowance(wallet, { ...allowance, amount: 7n * RUB });
    expect(await createSweep().give(NOVEMBER_END)).to.equal(0);
    await expectBook(['2026-12', 5n * RUB, DECEMBER_END]);
    await opened.real.ledger.apply([endGrant(wallet, `monthly:${wallet}:2026-12`)]);
    expect(await createSweep().give(NOVEMBER_END)).to.equal(0);
    await expectBook();
    expect(await sweep.give(DECEMBER_END)).to.equal(1);
    await opened.real.accounts.setAllowance(wallet, undefined);
    expect(await sweep.give(DECEMBER_END + 40 * 86_400_000)).to.equal(0);
    expect(failed).to.deep.equal([]);
  });

  it('comes once the ledger takes it, if the wallet has too many grants', async () => {
    const sweep = createSweep();
    opened.next('ledger.apply', async () => [{ status: 'too_many_grants', wallet: undefined }]);
    expect(await sweep.give(NOVEMBER_END)).to.equal(0);
    expect(failed).to.deep.equal([wallet]);
    expect(await sweep.give(NOVEMBER_END)).to.equal(1);
    await expectBook(['2026-12', 5n * RUB, DECEMBER_END]);
  });

  it('comes later after a failure, once after a lost answer, and keeps no other account waiting', async () => {
    const other = await newWallet(opened.real);
    await opened.real.accounts.setAllowance(other, allowance);
    const [first] = [wallet, other].toSorted();
    const sweep = createSweep();
    opened.next('users.listAccountMembers', refuse);
    expect(await sweep.give(NOVEMBER_END)).to.equal(1);
    expect(failed).to.deep.equal([first]);
    opened.next('ledger.apply', lose);
    await sweep.give(NOVEMBER_END);
    await sweep.give(NOVEMBER_END);
    await expectBook(['2026-12', 5n * RUB, DECEMBER_END]);
    opened.next('accounts.allowances', refuse);
    const error = await sweep.give(NOVEMBER_END).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
  });
});
