// Copies of stores whose old calls are archived: from the opening on, and never during an archive.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { mapUnits, UNIT_COUNTS } from '../../lib/money/usage-units.ts';
import { COPY_SETTING, COPY_UNFINISHED } from '../../lib/store/copy.ts';
import type { Archive, Opening } from '../../lib/store/ports/archives.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';
import { type FaultyStore, refuse } from '../../testkit/faulty-store.ts';
import {
  AT,
  adjust,
  applied,
  appliedInBatches,
  charge,
  everythingOf,
  giveBack,
  movingIn,
  newAccount,
  newId,
  problemsOf,
  RUB,
  rejection,
  reserve,
  settle,
  topup,
  walletOf,
} from '../contract/store/context.ts';
import { addCalls, useCopies } from './copies.ts';

describe('copy of a store with archives', () => {
  let from: FaultyStore;
  let to: FaultyStore;
  let wallet: string;

  const { copy, breakOff } = useCopies((opened) => {
    ({ source: from, target: to, wallet } = opened);
  });

  beforeEach(() => addCalls({ source: from, wallet }));

  async function refused(): Promise<string> {
    const error = await rejection(copy());
    expect(error).to.be.instanceOf(OperatorError);
    return (error as OperatorError).message;
  }

  async function openAtEnd(after = 0): Promise<Opening> {
    const { id: _id, status: _status, ...sums } = await walletOf(from.real, wallet);
    const opening = { wallet, ...sums, overshoot: 0n, lasting: 1, budgets: [], kept: null };
    expect(await from.real.archives.open(opening, after)).to.equal(true);
    return opening;
  }

  it('is refused while an archive is unfinished, and copies the progress of finished ones', async () => {
    const archive: Archive = {
      id: newId('arc'),
      file: '/backup/calls.gz',
      before: AT,
      state: 'leaving',
      startedAt: AT,
      sha256: 'ab',
      calls: 1,
      entries: 2,
      charged: RUB,
      first: AT,
      last: AT,
    };
    await from.real.archives.begin({ ...archive, state: 'writing' });
    const command = `tollgate ledger archive --before ${new Date(AT).toISOString()} --to /backup/calls.gz`;
    const message = `The source has an unfinished archive: run "${command}" on it first.`;
    expect(await refused()).to.equal(message);
    await from.real.archives.put(archive);
    expect(await refused()).to.equal(message);
    expect(await to.real.settings.list()).to.deep.equal([]);
    await from.real.archives.put({ ...archive, state: 'done' });
    await copy();
    expect(await to.real.archives.list()).to.deep.equal([{ ...archive, state: 'done' }]);
  });

  it('continues after the opening, across pages and writes, any number of times', async () => {
    const calls = (length: number) => Array.from({ length }, () => charge(wallet, { amount: 1n }));
    const within = newId('req');
    const across = newId('req');
    const back = newId('req');
    await applied(from.real, ...[within, across, back].map((chargeId) => reserve(wallet, { chargeId })));
    await appliedInBatches(from.real, calls(1000));
    await applied(from.real, settle(wallet, within), settle(wallet, back), giveBack('refund', wallet, back));
    const opening = await openAtEnd();
    await appliedInBatches(from.real, calls(200));
    await applied(from.real, settle(wallet, across));
    await copy();
    const expectEqual = async () => {
      expect(await to.real.archives.opening(wallet)).to.deep.equal(opening);
      expect(await everythingOf(to.real, wallet)).to.deep.equal(await everythingOf(from.real, wallet));
      for (const id of [within, across, back]) {
        expect(await to.real.ledger.charge(id)).to.deep.equal(await from.real.ledger.charge(id));
      }
      expect(await problemsOf(to.real, wallet)).to.deep.equal([]);
    };
    await expectEqual();
    await breakOff();
    await applied(from.real, topup(wallet, RUB));
    await copy();
    await expectEqual();
  }).timeout(20_000);

  it('lets a wallet that an archived entry opened go on without a payment', async () => {
    const moved = await newAccount(from.real);
    await applied(from.real, movingIn(adjust(moved, RUB)), charge(moved, { amount: 1n }));
    const { id: _id, status: _status, opened: _opened, ...sums } = await walletOf(from.real, moved);
    const opening = { wallet: moved, ...sums, overshoot: 0n, lasting: 1, budgets: [], kept: null };
    expect(await from.real.archives.open(opening, 0)).to.equal(true);
    await applied(from.real, topup(moved, 1n), charge(moved, { amount: 1n }));
    await copy();
    expect(await walletOf(to.real, moved)).to.deep.equal(await walletOf(from.real, moved));
    expect(await problemsOf(to.real, moved)).to.deep.equal([]);
  });

  it('continues after the opening if more than a page follows', async () => {
    const opening = await openAtEnd();
    const calls = Array.from({ length: 1000 }, () => charge(wallet, { amount: 1n }));
    await appliedInBatches(from.real, calls);
    await copy();
    expect(await to.real.archives.opening(wallet)).to.deep.equal(opening);
    expect(await everythingOf(to.real, wallet)).to.deep.equal(await everythingOf(from.real, wallet));
  }).timeout(20_000);

  it('copies the folded usage of every wallet with an opening, also beyond the first page', async () => {
    const opening = await openAtEnd();
    const ids = Array.from({ length: 501 }, (_, index) => `acc_${String(index).padStart(4, '0')}`);
    for (const id of ids) await from.real.archives.open({ ...opening, wallet: id }, 0);
    const last = ids.toSorted().at(-1) as string;
    await from.real.usage.add({ wallet: last, from: 0, to: 4, hours: [] });
    await copy();
    expect((await to.real.usage.readAll(last)).cursor).to.equal(4);
  });

  it('fails if the target does not accept the folded usage', async () => {
    await openAtEnd();
    to.next('usage.put', refuse);
    expect(await rejection(copy())).to.have.property('message', 'refused by the test');
    expect(await to.real.settings.get(COPY_SETTING)).to.equal(COPY_UNFINISHED);
    await copy();
  });

  it('copies the folded usage only of wallets with an opening', async () => {
    const none = { cursor: 0, hours: [], days: [], weeks: [], routes: [], jobs: [], isPartial: false };
    const counts = { ...NO_USAGE, calls: 1, charged: 1n, ...mapUnits(UNIT_COUNTS, (name) => name.length) };
    const hours = [{ hour: 3_600_000, key: 'key_1', model: 'm', kind: 'text' as const, ...counts }];
    await from.real.usage.add({ wallet, from: 0, to: 4, hours });
    await copy();
    expect(await to.real.usage.readAll(wallet)).to.deep.equal(none);
    await breakOff();
    const folded = await from.real.usage.readAll(wallet);
    await openAtEnd();
    expect(await refused()).to.equal(
      `An archive took calls of ${wallet} during the copy: copy again into an empty store.`,
    );
    expect(await to.real.usage.readAll(wallet)).to.deep.equal(folded);
  });

  it('is refused if an archive proceeds meanwhile', async () => {
    await openAtEnd();
    await copy();
    await breakOff();
    await applied(from.real, topup(wallet, RUB));
    const { seq } = (await from.real.archives.opening(wallet)) as Opening;
    await openAtEnd(seq);
    expect(await refused()).to.include(`An archive took calls of ${wallet} during the copy`);
  });
});
