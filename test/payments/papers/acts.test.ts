// Acts: months whose roundings add up, refunds, grants, and that an act stays as it was issued.
import { expect } from 'chai';
import {
  type Act,
  type ActRefusal,
  computeActKopecks,
  computeAdvance,
  findAct,
  findActDate,
  findLastMonth,
  issueAct,
  readMonth,
  roundToKopecks,
  shiftMonth,
} from '../../../lib/payments/papers/acts.ts';
import type { Store } from '../../../lib/store/store.ts';
import { type FaultyStore, lose, openFaultyStore } from '../../../testkit/faulty-store.ts';
import { BUYER, SELLER } from '../../../testkit/papers.ts';
import {
  applied,
  endGrant,
  giveBack,
  grant,
  newId,
  RUB,
  rejection,
  reserve,
  settle,
  topup,
} from '../../contract/store/context.ts';

const ZONE = 'Europe/Moscow';
const at = (day: string, time = '12:00:00') => Date.parse(`${day}T${time}+03:00`);
const NOW = at('2026-06-15');

describe('acts', () => {
  let faults: FaultyStore;
  before(async () => {
    faults = await openFaultyStore();
  });
  after(() => faults.close());

  async function newAccount(createdAt = at('2026-01-10')): Promise<string> {
    const id = newId('acc');
    await faults.real.accounts.create({ id, name: 'test', createdAt });
    await applied(faults.real, topup(id, 1000n * RUB, { at: createdAt }));
    return id;
  }

  async function call(account: string, amount: bigint, moment: number): Promise<string> {
    const chargeId = newId('req');
    await applied(
      faults.real,
      reserve(account, { chargeId, amount, at: moment - 1000, lease: moment + 60_000 }),
      settle(account, chargeId, { amount, at: moment }),
    );
    return chargeId;
  }

  const order = async (account: string, month: string, more: object = {}, store = faults.store) => {
    const terms = { account, month, zone: ZONE, seller: SELLER, buyer: BUYER, user: 'usr_a', now: NOW, ...more };
    return issueAct(store, terms);
  };
  async function issue(account: string, month: string): Promise<Act> {
    const answer = await order(account, month);
    if ('refusal' in answer) throw new Error(answer.refusal);
    return answer.act;
  }
  const refusal = async (account: string, month: string): Promise<ActRefusal | undefined> => {
    const answer = await order(account, month);
    return 'refusal' in answer ? answer.refusal : undefined;
  };

  /** A store whose calls before a time have left it, as far as it says. */
  function archivedStore(before: number): Store {
    const opening = async () => ({});
    const list = async () => [{ state: 'done', before }];
    return { ...faults.store, archives: { ...faults.store.archives, opening, list } } as unknown as Store;
  }

  it('round so that all months add up to the total, in whichever order they are issued', async () => {
    for (const months of [
      ['2026-02', '2026-03', '2026-04'],
      ['2026-04', '2026-02', '2026-03'],
    ]) {
      const account = await newAccount();
      // 0.335 kopecks of February, and so on: each by itself would be rounded down.
      await call(account, 1_003_350n, at('2026-02-03'));
      await call(account, 1_003_350n, at('2026-03-31', '23:59:59.999'));
      await call(account, 1_003_350n, at('2026-04-01', '00:00:00'));
      const acts = [];
      for (const month of months) acts.push(await issue(account, month));
      const byMonth = acts.toSorted((one, other) => one.month.localeCompare(other.month)).map(computeActKopecks);
      expect(byMonth).to.deep.equal([100n, 101n, 100n]);
      expect(byMonth.reduce((sum, one) => sum + one)).to.equal(roundToKopecks(3_010_050n));
    }
  });

  it('are issued from one kopeck on, and such a month is in no other act', async () => {
    const account = await newAccount();
    await call(account, 10_000n, at('2026-02-03'));
    await call(account, RUB, at('2026-03-03'));
    expect([await issue(account, '2026-03'), await issue(account, '2026-02')].map(computeActKopecks)).to.deep.equal([
      100n,
      1n,
    ]);
  });

  it('round half a kopeck up, also of money that was returned', () => {
    for (const [micro, kopecks] of [
      [4_999n, 0n],
      [5_000n, 1n],
      [14_999n, 1n],
      [15_000n, 2n],
      [-5_000n, 0n],
      [-5_001n, -1n],
      [-15_000n, -1n],
      [-15_001n, -2n],
    ] as const) {
      expect(roundToKopecks(micro), `${micro}`).to.equal(kopecks);
    }
  });

  it('are numbered, stay as they were issued, and once more change nothing', async () => {
    const account = await newAccount();
    await call(account, 5n * RUB, at('2026-05-02'));
    faults.next('papers.issue', lose);
    await rejection(issue(account, '2026-05'));
    const act = await issue(account, '2026-05');
    const other = { seller: { ...SELLER, name: 'other' }, user: 'usr_b', zone: 'Asia/Tokyo' };
    expect(await order(account, '2026-05', other)).to.deep.equal({ act });
    expect(await findAct(faults.real, account, '2026-05')).to.deep.equal(act);
    expect(await order(account, '2026-05', {}, archivedStore(NOW)), 'although its calls are archived').to.deep.equal({
      act,
    });
    const id = `${account}:2026-05`;
    const terms = { id, account, month: '2026-05', zone: ZONE, seller: SELLER, buyer: BUYER, user: 'usr_a', at: NOW };
    const sums = { begin: 0n, end: 5n * RUB, chargedBegin: 0n, chargedEnd: 5n * RUB, grants: 0n };
    expect(act).to.deep.include({ ...terms, ...sums, paidBegin: 1000n * RUB, paidEnd: 1000n * RUB });
    const next = await newAccount();
    await call(next, RUB, at('2026-05-02'));
    const both = await Promise.all([issue(next, '2026-05'), issue(next, '2026-05')]);
    expect(both[0]).to.deep.equal(both[1]);
    expect(both[0]?.number).to.equal(act.number + 1);
  });

  it('count a call that was booked late in the next act', async () => {
    const account = await newAccount();
    await call(account, 9n * RUB, at('2026-02-02'));
    await call(account, 5n * RUB, at('2026-03-02'));
    await call(account, 7n * RUB, at('2026-04-02'));
    const march = await issue(account, '2026-03');
    await call(account, 3n * RUB, at('2026-03-30'));
    await call(account, 2n * RUB, at('2026-04-30'));
    const april = await issue(account, '2026-04');
    expect([march, april].map(computeActKopecks)).to.deep.equal([500n, 1200n]);
    // What is booked before an act that is there already is in none, and the one before it ends where that begins.
    await applied(faults.real, grant(account, RUB, { at: at('2026-02-26'), grantId: newId('grant') }));
    await call(account, RUB, at('2026-02-27'));
    const february = await issue(account, '2026-02');
    expect(february).to.include({ end: march.begin, chargedEnd: march.chargedBegin, paidEnd: march.paidBegin });
  });

  it('leave out what grants paid of a call that was booked late, and of one given back late', async () => {
    const account = await newAccount();
    await applied(faults.real, grant(account, 30n * RUB, { at: at('2026-02-01'), grantId: newId('grant') }));
    await call(account, 33n * RUB, at('2026-03-02'));
    await call(account, 5n * RUB, at('2026-03-03'));
    const march = await issue(account, '2026-03');
    expect([computeActKopecks(march), march.grants]).to.deep.equal([800n, 30n * RUB]);
    await applied(faults.real, grant(account, 6n * RUB, { at: at('2026-03-29'), grantId: newId('grant') }));
    const film = await call(account, 7n * RUB, at('2026-03-30'));
    await call(account, 2n * RUB, at('2026-04-30'));
    const april = await issue(account, '2026-04');
    expect([computeActKopecks(april), april.grants]).to.deep.equal([300n, 0n]);
    await applied(faults.real, giveBack('refund', account, film, { at: at('2026-04-30', '23:00:00') }));
    await call(account, 10n * RUB, at('2026-05-02'));
    // Of the 7, 6 came back to the grant, which pays that much of the 10.
    const may = await issue(account, '2026-05');
    expect([computeActKopecks(may), may.grants]).to.deep.equal([300n, 6n * RUB]);
  });

  it('are net of refunds; a month with more refunds than calls is made up for by the next', async () => {
    const account = await newAccount();
    const film = await call(account, 50n * RUB, at('2026-02-27'));
    await issue(account, '2026-02');
    await applied(faults.real, giveBack('refund', account, film, { at: at('2026-03-01') }));
    await call(account, 20n * RUB, at('2026-03-05'));
    await call(account, 45n * RUB, at('2026-04-05'));
    expect(await refusal(account, '2026-03')).to.equal('nothing');
    // April: 45, less the 30 of March. Without an act of March, its 30 are in April's.
    expect(computeActKopecks(await issue(account, '2026-04'))).to.equal(1500n);
    expect(await refusal(account, '2026-05')).to.equal('nothing');
  });

  it('make up for refunds of the 12 months before, and not for those of longer ago', async () => {
    for (const [refunded, kopecks] of [
      ['2025-05', 1000n],
      ['2025-04', 6000n],
    ] as const) {
      const account = await newAccount(at('2025-01-10'));
      const film = await call(account, 50n * RUB, at('2025-03-27'));
      await applied(faults.real, giveBack('refund', account, film, { at: at(`${refunded}-02`) }));
      // What a grant pays in that month makes up for nothing.
      await applied(faults.real, grant(account, 30n * RUB, { at: at(`${refunded}-03`), grantId: newId('grant') }));
      await call(account, 30n * RUB, at(`${refunded}-04`));
      await call(account, 60n * RUB, at('2026-05-05'));
      expect(computeActKopecks(await issue(account, '2026-05')), refunded).to.equal(kopecks);
    }
  });

  it('leave out what grants paid, and state it apart', async () => {
    const account = await newAccount();
    const id = newId('grant');
    await applied(faults.real, grant(account, 30n * RUB, { at: at('2026-02-01'), grantId: id }));
    const film = await call(account, 20n * RUB, at('2026-02-10'));
    await call(account, 25n * RUB, at('2026-03-10'));
    await applied(faults.real, { ...endGrant(account, id), at: at('2026-03-20') } as never);
    await applied(faults.real, giveBack('refund', account, film, { at: at('2026-04-02') }));
    await call(account, 4n * RUB, at('2026-04-10'));
    expect(await refusal(account, '2026-02')).to.equal('nothing');
    const march = await issue(account, '2026-03');
    expect([march.begin, computeActKopecks(march), march.grants]).to.deep.equal([0n, 1500n, 10n * RUB]);
    const april = await issue(account, '2026-04');
    expect([computeActKopecks(april), april.grants]).to.deep.equal([400n, -20n * RUB]);
  });

  it('round what was paid without grants, in the first act, too', async () => {
    const account = await newAccount();
    // Half a kopeck of a grant, and later half a kopeck beside it.
    await applied(faults.real, grant(account, 5_000n, { at: at('2026-02-01'), grantId: newId('grant') }));
    await call(account, 5_000n, at('2026-02-10'));
    await call(account, 25n * RUB + 5_000n, at('2026-03-10'));
    expect(computeActKopecks(await issue(account, '2026-03'))).to.equal(2501n);
  });

  it('leave out what grants paid, although all of it was given back by now', async () => {
    for (const end of ['2026-03-20', '2026-04-05']) {
      const account = await newAccount();
      const id = newId('grant');
      await applied(faults.real, grant(account, 30n * RUB, { at: at('2026-02-01'), grantId: id }));
      const film = await call(account, 30n * RUB, at('2026-03-05'));
      await call(account, 25n * RUB, at('2026-03-10'));
      const last = [
        { ...endGrant(account, id), at: at(end) },
        giveBack('refund', account, film, { at: at('2026-04-02') }),
      ];
      // The grant is over when the call is given back, or only later.
      await applied(faults.real, ...(last.toSorted((one, other) => one.at - other.at) as never[]));
      await call(account, 4n * RUB, at('2026-04-10'));
      expect((await faults.real.ledger.wallet(account))?.granted).to.equal(undefined);
      const acts = [await issue(account, '2026-03'), await issue(account, '2026-04')];
      const sums = acts.map((act) => [computeActKopecks(act), act.grants]);
      expect(sums).to.deep.equal([
        [2500n, 30n * RUB],
        [400n, -30n * RUB],
      ]);
    }
  });

  it('begin where the one before ended, although the account has another time zone now', async () => {
    // Between the end of March in Tokyo and in Moscow, and the other way round.
    for (const [moment, first, second] of [
      [at('2026-03-31', '20:00:00'), 'Asia/Tokyo', ZONE],
      [at('2026-03-31', '20:00:00'), ZONE, 'Asia/Tokyo'],
    ] as const) {
      const account = await newAccount();
      await call(account, 3n * RUB, at('2026-03-10'));
      await applied(faults.real, grant(account, 30n * RUB, { at: at('2026-03-11'), grantId: newId('grant') }));
      await call(account, 20n * RUB, moment);
      await call(account, 14n * RUB, at('2026-04-10'));
      const sums: bigint[] = [];
      for (const [month, zone] of [
        ['2026-03', first],
        ['2026-04', second],
      ] as const) {
        const answer = await order(account, month, { zone });
        if ('act' in answer) sums.push(computeActKopecks(answer.act));
      }
      expect(sums).to.deep.equal([300n, 400n]);
    }
  });

  it('count no month before the calls that are archived, and are refused where some of theirs are', async () => {
    for (const [before, answers] of [
      [at('2026-03-01', '00:00:00'), ['nothing', 1500n]],
      [at('2026-03-01', '00:00:01'), ['archived', 4500n]],
      [at('2026-04-01', '00:00:00'), ['archived', 4500n]],
      [at('2026-04-01', '00:00:01'), ['archived', 'archived']],
    ] as const) {
      const account = await newAccount();
      const film = await call(account, 50n * RUB, at('2026-02-28', '23:59:59.999'));
      await applied(faults.real, giveBack('refund', account, film, { at: at('2026-03-01', '00:00:00') }));
      await call(account, 20n * RUB, at('2026-03-05'));
      await call(account, 45n * RUB, at('2026-04-05'));
      const store = archivedStore(before);
      for (const [index, month] of ['2026-03', '2026-04'].entries()) {
        const answer = await order(account, month, {}, store);
        const found = 'act' in answer ? computeActKopecks(answer.act) : answer.refusal;
        expect(found, `${month} of ${new Date(before).toISOString()}`).to.equal(answers[index]);
      }
    }
  });

  it('of an account with grants need the one before, where calls are archived', async () => {
    const account = await newAccount();
    await applied(faults.real, grant(account, 30n * RUB, { at: at('2026-02-01'), grantId: newId('grant') }));
    await call(account, 40n * RUB, at('2026-03-10'));
    await call(account, 4n * RUB, at('2026-04-10'));
    const store = archivedStore(at('2026-03-01', '00:00:00'));
    expect(await order(account, '2026-04', {}, store)).to.deep.equal({ refusal: 'archived' });
    await issue(account, '2026-03');
    const answer = await order(account, '2026-04', {}, store);
    expect('act' in answer && computeActKopecks(answer.act)).to.equal(400n);
  });

  it('begin where the last one ended, although a month between has none', async () => {
    const account = await newAccount();
    const film = await call(account, 50n * RUB, at('2026-02-27'));
    await issue(account, '2026-02');
    // Booked late, so that no month had it.
    await call(account, 7n * RUB, at('2026-02-28'));
    await applied(faults.real, giveBack('refund', account, film, { at: at('2026-03-01') }));
    await call(account, 20n * RUB, at('2026-03-05'));
    await call(account, 45n * RUB, at('2026-04-05'));
    expect(await refusal(account, '2026-03')).to.equal('nothing');
    // 7 of February, 20 less 50 of March, 45 of April.
    expect(computeActKopecks(await issue(account, '2026-04'))).to.equal(2200n);
  });

  it('state the advance before and after, which adds up with what came in', async () => {
    const account = await newAccount();
    await call(account, 100n * RUB + 4_000n, at('2026-02-10'));
    await applied(faults.real, topup(account, 500n * RUB, { at: at('2026-03-01', '00:00:00') }));
    await call(account, 250n * RUB + 4_000n, at('2026-03-10'));
    const [february, march] = [await issue(account, '2026-02'), await issue(account, '2026-03')];
    expect(computeAdvance(february)).to.deep.equal({ opening: 100_000n, received: 0n, closing: 90_000n });
    expect(computeAdvance(march)).to.deep.equal({ opening: 90_000n, received: 50_000n, closing: 114_999n });
    expect(computeActKopecks(march)).to.equal(25_001n);
  });

  it('state the advance that the one before left, although the account has another time zone now', async () => {
    // Paid between the end of March in Tokyo and in Moscow, and the other way round; March first, and April first.
    for (const [first, second] of [
      ['Asia/Tokyo', ZONE],
      [ZONE, 'Asia/Tokyo'],
    ] as const) {
      for (const isLate of [false, true]) {
        const account = await newAccount();
        await call(account, 3n * RUB, at('2026-03-10'));
        await applied(faults.real, topup(account, 500n * RUB, { at: at('2026-03-31', '20:00:00') }));
        await call(account, 4n * RUB, at('2026-04-10'));
        const months = [
          ['2026-03', first],
          ['2026-04', second],
        ] as const;
        const acts: Act[] = [];
        for (const [month, zone] of isLate ? months.toReversed() : months) {
          const answer = await order(account, month, { zone });
          if ('act' in answer) acts.push(answer.act);
        }
        const [march, april] = acts.toSorted((one, other) => one.month.localeCompare(other.month)).map(computeAdvance);
        expect(april?.opening, `${first} ${isLate}`).to.equal(march?.closing);
        expect(april?.closing).to.equal(149_300n);
      }
    }
  });

  it('are of months that are over in the zone of the account', async () => {
    const account = await newAccount();
    await call(account, RUB, at('2026-05-31', '23:30:00'));
    expect(await refusal(account, '2026-06')).to.equal('open');
    expect(await refusal(account, '2027-01')).to.equal('open');
    const answer = await order(account, '2026-05', { zone: 'America/New_York', now: at('2026-06-01', '06:59:59') });
    expect(answer).to.deep.equal({ refusal: 'open' });
    expect(computeActKopecks(await issue(account, '2026-05'))).to.equal(100n);
    expect(findLastMonth(at('2026-06-01', '00:00:00'), ZONE)).to.equal('2026-05');
    expect(findLastMonth(at('2026-06-01', '00:00:00'), 'UTC')).to.equal('2026-04');
  });

  it('name months by their calendar', () => {
    expect([readMonth('2026-02'), readMonth('2026-13'), readMonth('2026-2')]).to.deep.equal([
      '2026-02',
      undefined,
      undefined,
    ]);
    expect([shiftMonth('2026-12', 1), shiftMonth('2026-01', -1)]).to.deep.equal(['2027-01', '2025-12']);
    expect(findActDate('2028-02')).to.equal('2028-02-29');
    expect([4999n, 5000n, -5000n, -5001n].map(roundToKopecks)).to.deep.equal([0n, 1n, 0n, -1n]);
  });
});
