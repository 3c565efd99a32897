// Which archived calls may be removed: complete, unchanged since, and within the opening.
import { expect } from 'chai';
import { selectRemovableCalls } from '../../lib/store/archives.ts';
import type { WholeCall } from '../../lib/store/ports/archives.ts';
import { StoreError } from '../../lib/store/store.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { applied, giveBack, newId, newWallet, reserve, settle } from '../contract/store/context.ts';

describe('archived calls', () => {
  let faulty: FaultyStore;
  /** As archived; its last entry has the number 3. */
  let call: WholeCall;
  /** The same, refunded since with entry 4. */
  let refunded: WholeCall;

  before(async () => {
    faulty = await openFaultyStore();
    const wallet = await newWallet(faulty.real);
    const id = newId('req');
    await applied(faulty.real, reserve(wallet, { chargeId: id }), settle(wallet, id));
    call = await wholeOf(id);
    await applied(faulty.real, giveBack('refund', wallet, id));
    refunded = await wholeOf(id);
    expect([call.entries.length, refunded.entries.at(-1)?.seq]).to.deep.equal([2, 4]);
  });
  after(() => faulty.close());

  async function wholeOf(id: string): Promise<WholeCall> {
    const charge = (await faulty.real.ledger.charge(id)) as WholeCall['charge'];
    const attempts = await faulty.real.attempts.list([id]);
    return { charge, entries: await faulty.real.ledger.listChargeEntries(id), attempts };
  }

  const leave = (opened: number, charges: readonly WholeCall['charge'][], entries: WholeCall['entries']) =>
    selectRemovableCalls([call], { charges, entries, attempts: [] }, opened).length;

  it('are removed if they match the archive and lie within the opening, in any order of rows', () => {
    expect(leave(3, [call.charge], call.entries)).to.equal(1);
    expect(leave(3, [call.charge], call.entries.toReversed())).to.equal(1);
  });

  it('are skipped if they are gone', () => {
    expect(leave(3, [], [])).to.equal(0);
  });

  it('stay if they moved beyond the opening', () => {
    expect(leave(3, [refunded.charge], refunded.entries)).to.equal(0);
    expect(leave(3, [refunded.charge], refunded.entries.toReversed())).to.equal(0);
  });

  const wrong: readonly [what: string, opened: number, charge: boolean, rows: () => WholeCall['entries']][] = [
    ['are not yet within the opening', 2, true, () => call.entries],
    ['lost their charge', 3, false, () => call.entries],
    ['lost their entries', 3, true, () => []],
    ['lost one entry', 3, true, () => call.entries.slice(1)],
    ['have another entry than the one archived', 3, true, () => call.entries.map((row) => ({ ...row, at: 1 }))],
    ['moved within the opening without being archived so', 4, true, () => refunded.entries],
    ['moved on from another beginning', 3, true, () => refunded.entries.map((row) => ({ ...row, at: 1 }))],
  ];
  for (const [what, opened, hasCharge, rows] of wrong) {
    it(`are refused when they ${what}`, () => {
      const refuse = () => leave(opened, hasCharge ? [call.charge] : [], rows());
      expect(refuse).to.throw(StoreError, `the call ${call.charge.id} is not as it was archived`);
      expect(refuse).to.throw().with.property('blames', 'batch');
    });
  }
});
