// Marks of entries: the values that each kind covers, also after a hold has ended.
import { expect } from 'chai';
import {
  type Charge,
  createEmptyWallet,
  decide,
  type Entry,
  type Operation,
  type Wallet,
} from '../../lib/money/decide.ts';
import type { IdempotencyRecord } from '../../lib/money/idempotency.ts';
import { computeMark, hasMark, readFlagsFromMark, readJobIdFromMark } from '../../lib/money/mark.ts';
import { rebuildMarkedOperation, rebuildOperation } from '../../lib/money/replay.ts';

const WALLET: Wallet = { ...createEmptyWallet('w'), avail: 100n, topped: 100n, seq: 1 };
const START = { wallet: 'w', at: 5, chargeId: 'c', key: 'k', chargeKind: 'text', model: 'm', prices: '{}' } as const;
const RESERVE: Operation = { kind: 'reserve', ...START, amount: 10n, owner: 'own', lease: 9 };

function made(op: Operation, charge?: Charge): { entry: Entry; charge: Charge | undefined } {
  const decision = decide({ wallet: { ...WALLET, held: charge ? 10n : 0n }, charge, prior: undefined }, op);
  return { entry: decision.entry as Entry, charge: decision.charge };
}

describe('the mark of an entry', () => {
  const { entry, charge } = made(RESERVE) as { entry: Entry; charge: Charge };

  const changes: Readonly<Record<string, Partial<Charge>>> = {
    key: { key: 'x' },
    kind: { kind: 'image' },
    model: { model: 'x' },
    prices: { prices: '{"request":"1"}' },
    period: { period: 1 },
    'the budget it shares': { period: 0, budgetKey: 'x' },
    owner: { owner: 'x' },
    lease: { lease: 8 },
    excess: { excess: 5n },
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`covers the ${name} of a hold`, () => {
      const other = { ...charge, ...change };
      const op = rebuildOperation(entry, other) as Operation;
      expect(hasMark(entry, computeMark(op, entry, other), other)).to.equal(false);
    });
  }

  it('tells one excess of a hold from another', () => {
    const [five, six] = [5n, 6n].map((excess) => ({ ...charge, excess })) as [Charge, Charge];
    const mark = computeMark(RESERVE, entry, five);
    expect(hasMark({ ...entry, mark }, computeMark(RESERVE, entry, five), five)).to.equal(true);
    expect(hasMark({ ...entry, mark }, computeMark(RESERVE, entry, six), six)).to.equal(false);
  });

  it('ignores the owner of an ended hold, but keeps its length', () => {
    const ended = { ...charge, state: 'released', owner: null, lease: null } as const;
    const wanted = computeMark(rebuildOperation(entry, ended) as Operation, entry, ended);
    expect(entry.mark).to.match(/^[0-9a-f]{16}$/);
    expect(wanted).to.not.equal(entry.mark);
    expect(hasMark(entry, wanted, ended)).to.equal(true);
    expect(hasMark({ ...entry, mark: `${entry.mark}0` }, wanted, ended)).to.equal(false);
    expect(hasMark({ ...entry, mark: null }, wanted, ended), 'of an earlier version').to.equal(true);
  });

  it('covers the usage and the time of a settlement', () => {
    const settle: Operation = { kind: 'settle', wallet: 'w', at: 7, chargeId: 'c', amount: 4n, usage: '{"a":1}' };
    const { entry: end, charge: settled } = made(settle, charge) as { entry: Entry; charge: Charge };
    const marks = [settled.usage, '{"a":2}', null].map((usage) => computeMark(settle, end, { ...settled, usage }));
    expect(marks[0]).to.equal(end.mark);
    expect(new Set([...marks, computeMark(settle, { ...end, at: 8 }, settled)]).size).to.equal(4);
  });

  it('covers all values of an entry without a call', () => {
    const op: Operation = { kind: 'adjust', wallet: 'w', at: 5, amount: -3n, reason: 'r', adjustId: 'a' };
    const { entry: own } = made(op);
    const others: Partial<Entry>[] = [
      ...[{ opId: 'adjust:b' }, { wallet: 'x' }, { kind: 'topup' as const }, { at: 6 }, { avail: 1n }, { topped: 1n }],
      ...[{ adjusted: 1n }, { overshoot: 1n }, { chargedAfter: 1n }, { note: 's' }, { status: 'active' as const }],
      ...[{ granted: 0n }, { granted: 1n }, { grants: '[["g","1"]]' }],
    ];
    const marks = others.map((change) => computeMark(op, { ...own, ...change }, undefined));
    expect(new Set([own.mark, ...marks]).size).to.equal(others.length + 1);
  });

  it('is the same as before there were grants where an entry has none', () => {
    const op: Operation = { kind: 'adjust', wallet: 'w', at: 5, amount: -3n, reason: 'r', adjustId: 'a' };
    expect(made(op).entry.mark).to.equal('5432f798');
  });

  it('covers the stored usage of a settlement that is free because its call was repeated', () => {
    const expired: Charge = { ...charge, state: 'expired', owner: null, lease: null };
    const taken = { id: 'r', wallet: 'w', charge: 'other', body: 'b', at: 6 } as unknown as IdempotencyRecord;
    const settle: Operation = { kind: 'settle', wallet: 'w', at: 7, chargeId: 'c', amount: 4n, usage: '{"a":1}' };
    const free = decide({ wallet: WALLET, charge: expired, prior: undefined, takenKey: taken }, settle);
    const end = free.entry as Entry;
    const kept = free.charge as Charge;
    expect(kept.usage).to.equal('{"a":1,"repeated_as":"other"}');
    expect(made(rebuildOperation(end, kept) as Operation, expired).entry).to.include({ mark: end.mark, charged: 0n });
  });

  it('records whether an entry adds or settles play money, moves in or opens the wallet, also after a replay', () => {
    const base = { wallet: 'w', at: 5, amount: 3n } as const;
    const topup: Operation = { kind: 'topup', ...base, paymentId: 'p' };
    const adjust: Operation = { kind: 'adjust', ...base, reason: 'r', adjustId: 'a' };
    const isPlay = true as const;
    const settlesPlay = true as const;
    const movesIn = true as const;
    const opens = true as const;
    const grant: Operation = { kind: 'grant', ...base, grantId: 'g', reason: 'r', until: null };
    const pairs: readonly (readonly [Operation, Operation, object])[] = [
      [topup, { ...topup, isPlay }, { isPlay }],
      [
        { kind: 'pay', ...base, paymentId: 'p', order: 'o' },
        { kind: 'pay', ...base, paymentId: 'p', order: 'o', isPlay },
        { isPlay },
      ],
      [adjust, { ...adjust, settlesPlay }, { settlesPlay }],
      [adjust, { ...adjust, movesIn }, { movesIn }],
      [grant, { ...grant, opens }, { opens }],
    ];
    const before: Wallet = { ...WALLET, playMoney: true };
    const entryOf = (op: Operation) =>
      decide({ wallet: before, charge: undefined, prior: undefined }, op).entry as Entry;
    for (const [plain, playing, wanted] of pairs) {
      const one = entryOf(plain);
      const other = entryOf(playing);
      expect([readFlagsFromMark(one), readFlagsFromMark(other)], plain.kind).to.deep.equal([{}, wanted]);
      expect(rebuildOperation(other, undefined)).to.deep.include(wanted);
      expect(hasMark({ ...other, mark: String(other.mark).slice(0, 8) }, one.mark as string, undefined)).to.equal(
        false,
      );
    }
    expect(readFlagsFromMark(entry)).to.deep.equal({});
  });

  it('lets a copy settle play money whose entries of earlier versions have no mark', () => {
    const adjust: Operation = {
      kind: 'adjust',
      wallet: 'w',
      at: 5,
      amount: 0n,
      reason: 'r',
      adjustId: 'a',
      settlesPlay: true,
    };
    const known = { wallet: WALLET, charge: undefined, prior: undefined };
    expect(decide(known, adjust).status).to.equal('exists');
    const settled = decide({ ...known, wallet: { ...WALLET, playMoney: true } }, adjust).entry as Entry;
    expect(decide(known, rebuildMarkedOperation(settled, undefined) as Operation)).to.deep.include({
      status: 'done',
      entry: settled,
    });
  });

  it('contains the job id of a charge', () => {
    const job = { id: 'vid_1', wallet: 'w', charge: 'c', model: 'm', upstream: 'u', facts: '{}', owner: 'o', lease: 9 };
    const create = { kind: 'create', job: { ...job, deadline: 9, createdAt: 5 } } as const;
    const withJob = made({ kind: 'charge', ...START, amount: 10n, job: create }).entry;
    const without = made({ kind: 'charge', ...START, amount: 10n }).entry;
    expect([withJob, without, entry].map(readJobIdFromMark)).to.deep.equal(['vid_1', undefined, undefined]);
    expect(readJobIdFromMark({ kind: 'charge', mark: null })).to.equal(undefined);
    expect(hasMark(withJob, without.mark as string, undefined)).to.equal(true);
  });

  it('covers the terms and the usage of a charge', () => {
    const op = { kind: 'charge', ...START, amount: 10n, usage: '{"a":1}' } as const;
    const { mark } = made(op).entry;
    for (const other of [
      { ...op, key: 'x' },
      { ...op, usage: '{"a":2}' },
      { ...op, usage: undefined },
    ] as Operation[]) {
      expect(hasMark({ kind: 'charge', mark }, made(other).entry.mark as string, undefined)).to.equal(false);
    }
    expect(hasMark({ kind: 'charge', mark }, made(op).entry.mark as string, undefined)).to.equal(true);
  });

  it('is unchanged after a replay of the journal, also if absent', () => {
    for (const mark of ['0123456789abcdef', null]) {
      const op = rebuildMarkedOperation({ ...entry, mark }, charge) as Operation;
      expect(made(op).entry.mark).to.equal(mark);
    }
  });
});
