// When a low balance is told, and when it is told again.
import { expect } from 'chai';
import { watchBalance } from '../../lib/alerts/balance.ts';
import type { AlarmMark } from '../../lib/alerts/watch.ts';
import { MICRO_PER_RUB } from '../../lib/money/money.ts';

const micro = (rub: number) => BigInt(Math.round(rub * 1e6));
const decide = (mark: AlarmMark | null, { balance = 100, held = 0, topped = 1000, below = 100 }) =>
  watchBalance({ avail: micro(balance - held), held: micro(held), topped: micro(topped) }, micro(below)).decide(mark);

const told = (below = 100, topped = 1000): AlarmMark => ({ below: `${micro(below)}`, topped: `${micro(topped)}` });

const ROWS: readonly [name: string, mark: AlarmMark | null, wallet: Parameters<typeof decide>[1], kind: string][] = [
  ['far above', null, { balance: 500 }, 'stay'],
  ['at the sum', null, { balance: 100 }, 'stay'],
  ['a hair below', null, { balance: 99.999999 }, 'alert'],
  ['empty', null, { balance: 0 }, 'alert'],
  ['in debt', null, { balance: -5 }, 'alert'],
  ['held money is still there', null, { balance: 150, held: 120 }, 'stay'],
  ['told, and lower still', told(), { balance: 10 }, 'stay'],
  ['told, and back at the sum', told(), { balance: 100 }, 'stay'],
  ['told, and just 10 % above', told(), { balance: 110 }, 'stay'],
  ['told, and more than 10 % above', told(), { balance: 110.000001 }, 'rearm'],
  ['told, and topped up enough', told(), { balance: 105, topped: 1001 }, 'rearm'],
  ['told, and topped up too little', told(), { balance: 50, topped: 1001 }, 'alert'],
  ['told, and a payment went back', told(), { balance: 50, topped: 900 }, 'stay'],
  ['told of another sum', told(50), { balance: 40 }, 'alert'],
  ['told of another sum, above the new one', told(500), { balance: 400 }, 'rearm'],
];

describe('watch of a balance', () => {
  for (const [name, mark, wallet, kind] of ROWS) {
    it(`${name}: ${kind}`, () => {
      expect(decide(mark, wallet).kind).to.equal(kind);
    });
  }

  it('marks the threshold and the topped-up sum, and reports threshold and balance', () => {
    expect(decide(null, { balance: 99.5 })).to.deep.equal({
      kind: 'alert',
      mark: told(),
      content: { type: 'balance.below', data: { threshold: '100.00', balance: '99.50' } },
    });
  });

  it('alerts once for each fall of a balance', () => {
    let mark: AlarmMark | null = null;
    const kinds = [120, 99, 101, 95, 109, 98, 111, 105, 99, 50, 200, 100, 20].map((balance) => {
      const decision = decide(mark, { balance });
      if (decision.kind === 'alert') mark = decision.mark;
      if (decision.kind === 'rearm') mark = null;
      return decision.kind;
    });
    expect(kinds.filter((kind) => kind === 'alert')).to.have.length(3);
    expect(kinds.map((kind) => kind[0]).join('')).to.equal('sassssrsasrsa');
  });

  it('counts in whole micro-roubles, at any size', () => {
    const below = 900_000_000_000_000n * MICRO_PER_RUB + 1n;
    const wallet = { avail: below - 1n, held: 0n, topped: 0n };
    expect(watchBalance(wallet, below).decide(null).kind).to.equal('alert');
    expect(watchBalance({ ...wallet, avail: below }, below).decide(null).kind).to.equal('stay');
  });
});
