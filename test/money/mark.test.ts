// Marks of entries: what each of them covers, and what a mark of an ended hold no longer says.
import { expect } from 'chai';
import { type Charge, decide, type Entry, emptyWallet, type Operation, type Wallet } from '../../lib/money/decide.ts';
import { hasMark, jobOfMark, markOf } from '../../lib/money/mark.ts';
import { operationOf, replayOf } from '../../lib/money/replay.ts';

const WALLET: Wallet = { ...emptyWallet('w'), avail: 100n, topped: 100n, seq: 1 };
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
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`of a hold covers its ${name}`, () => {
      const other = { ...charge, ...change };
      const op = operationOf(entry, other) as Operation;
      expect(hasMark(entry, markOf(op, entry, other), other)).to.equal(false);
    });
  }

  it('of a hold that has ended says nothing of its owner, but is no shorter', () => {
    const ended = { ...charge, state: 'released', owner: null, lease: null } as const;
    const wanted = markOf(operationOf(entry, ended) as Operation, entry, ended);
    expect(entry.mark).to.match(/^[0-9a-f]{16}$/);
    expect(wanted).to.not.equal(entry.mark);
    expect(hasMark(entry, wanted, ended)).to.equal(true);
    expect(hasMark({ ...entry, mark: `${entry.mark}0` }, wanted, ended)).to.equal(false);
    expect(hasMark({ ...entry, mark: null }, wanted, ended), 'of an earlier version').to.equal(true);
  });

  it('of a settlement covers its usage and its time', () => {
    const settle: Operation = { kind: 'settle', wallet: 'w', at: 7, chargeId: 'c', amount: 4n, usage: '{"a":1}' };
    const { entry: end } = made(settle, charge);
    const marks = [settle, { ...settle, usage: '{"a":2}' }, { ...settle, usage: null }].map((op) =>
      markOf(op as Operation, end, charge),
    );
    expect(marks[0]).to.equal(end.mark);
    expect(new Set([...marks, markOf(settle, { ...end, at: 8 }, charge)]).size).to.equal(4);
  });

  it('of an entry without a call covers all it says', () => {
    const op: Operation = { kind: 'adjust', wallet: 'w', at: 5, amount: -3n, reason: 'r', adjustId: 'a' };
    const { entry: own } = made(op);
    const others: Partial<Entry>[] = [
      ...[{ opId: 'adjust:b' }, { wallet: 'x' }, { kind: 'topup' as const }, { at: 6 }, { avail: 1n }, { topped: 1n }],
      ...[{ adjusted: 1n }, { chargedAfter: 1n }, { note: 's' }, { status: 'active' as const }],
    ];
    const marks = others.map((change) => markOf(op, { ...own, ...change }, undefined));
    expect(new Set([own.mark, ...marks]).size).to.equal(others.length + 1);
  });

  it('of a charge names its job', () => {
    const job = { id: 'vid_1', wallet: 'w', charge: 'c', model: 'm', upstream: 'u', facts: '{}', owner: 'o', lease: 9 };
    const create = { kind: 'create', job: { ...job, deadline: 9, createdAt: 5 } } as const;
    const withJob = made({ kind: 'charge', ...START, amount: 10n, job: create }).entry;
    const without = made({ kind: 'charge', ...START, amount: 10n }).entry;
    expect([withJob, without, entry].map(jobOfMark)).to.deep.equal(['vid_1', undefined, undefined]);
    expect(hasMark(withJob, without.mark as string, undefined)).to.equal(true);
  });

  it('stays as it is when the journal is replayed, also where there is none', () => {
    for (const mark of ['0123456789abcdef', null]) {
      const op = replayOf({ ...entry, mark }, charge) as Operation;
      expect(made(op).entry.mark).to.equal(mark);
    }
  });
});
