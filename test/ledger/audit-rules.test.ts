// Rows as a document database may contain them after somebody has written to it by hand.
import { expect } from 'chai';
import { isCharge, isEntry, isWallet, listDifferences } from '../../lib/ledger/audit-rules.ts';
import { type Charge, createEmptyWallet, type Entry } from '../../lib/money/decide.ts';

const ENTRY: Entry = {
  opId: 'reserve:a',
  wallet: 'w',
  seq: 2,
  kind: 'reserve',
  charge: 'a',
  at: 5,
  avail: -3n,
  held: 3n,
  charged: 0n,
  topped: 0n,
  adjusted: 0n,
  overshoot: 0n,
  chargedAfter: 0n,
  note: null,
  status: null,
  mark: null,
};
const CHARGE: Charge = {
  id: 'a',
  wallet: 'w',
  key: 'k',
  kind: 'text',
  state: 'held',
  reserved: 3n,
  charged: 0n,
  model: 'm',
  prices: '{}',
  usage: null,
  owner: 'own',
  lease: 9,
  createdAt: 5,
  endedAt: null,
  period: null,
  budgetKey: null,
};
const CAPS = [{ id: 'run:a', period: 5 }];
const ODD = ['words', '', 1, 1.5, 1n, null, undefined, true, {}, [{}], [{ id: 'run:a', period: '5' }], CAPS] as const;

type Kind =
  | 'text'
  | 'text or none'
  | 'text or absent'
  | 'name'
  | 'name or none'
  | 'whole'
  | 'whole or none'
  | 'money'
  | 'money or absent'
  | 'caps or absent';
const TAKEN: Readonly<Record<Kind, readonly unknown[]>> = {
  text: ['words', ''],
  'text or none': ['words', '', null],
  'text or absent': ['words', '', undefined],
  whole: [1],
  'whole or none': [1, null],
  money: [1n],
  'money or absent': [1n, undefined],
  'caps or absent': [undefined, CAPS],
  name: [],
  'name or none': [null],
};
const ENTRY_FIELDS: Readonly<Record<keyof Entry, Kind>> = {
  opId: 'text',
  wallet: 'text',
  seq: 'whole',
  kind: 'name',
  charge: 'text or none',
  at: 'whole',
  avail: 'money',
  held: 'money',
  charged: 'money',
  topped: 'money',
  adjusted: 'money',
  granted: 'money or absent',
  grants: 'text or absent',
  overshoot: 'money',
  chargedAfter: 'money',
  note: 'text or none',
  status: 'name or none',
  mark: 'text or none',
};
const CHARGE_FIELDS: Readonly<Required<Record<keyof Charge, Kind>>> = {
  id: 'text',
  wallet: 'text',
  key: 'text',
  kind: 'name',
  state: 'name',
  reserved: 'money',
  charged: 'money',
  model: 'text',
  prices: 'text',
  usage: 'text or none',
  owner: 'text or none',
  lease: 'whole or none',
  createdAt: 'whole',
  endedAt: 'whole or none',
  period: 'whole or none',
  budgetKey: 'text or none',
  excess: 'money or absent',
  caps: 'caps or absent',
  grants: 'text or absent',
};

/** Every field with every odd value: which of them the check lets through. */
function accepted<Row extends object>(
  row: Row,
  fields: Readonly<Record<keyof Row, Kind>>,
  check: (row: Row) => boolean,
) {
  return (Object.keys(fields) as (keyof Row)[]).map((name) => ({
    name,
    values: ODD.filter((value) => check({ ...row, [name]: value })),
  }));
}
const expected = <Row extends object>(fields: Readonly<Record<keyof Row, Kind>>) =>
  (Object.keys(fields) as (keyof Row)[]).map((name) => ({ name, values: TAKEN[fields[name]] }));

describe('the rules for single rows', () => {
  it('accept an entry only if each field has the right type', () => {
    expect(isEntry(ENTRY)).to.equal(true);
    expect(accepted(ENTRY, ENTRY_FIELDS, isEntry)).to.deep.equal(expected<Entry>(ENTRY_FIELDS));
  });

  it('accept a charge only if each field has the right type', () => {
    expect(isCharge(CHARGE)).to.equal(true);
    expect(accepted(CHARGE, CHARGE_FIELDS, isCharge)).to.deep.equal(expected<Charge>(CHARGE_FIELDS));
  });

  it('accept a wallet only with amounts, a number of entries and a status', () => {
    const wallet = createEmptyWallet('w');
    expect(isWallet(wallet)).to.equal(true);
    for (const name of ['avail', 'held', 'charged', 'topped', 'adjusted'] as const)
      expect(ODD.filter((value) => isWallet({ ...wallet, [name]: value as never }))).to.deep.equal([1n]);
    expect(ODD.filter((value) => isWallet({ ...wallet, seq: value as never }))).to.deep.equal([1]);
    expect(ODD.filter((value) => isWallet({ ...wallet, status: value as never }))).to.deep.equal([]);
  });

  it('list amounts that differ, with a drift that is never negative', () => {
    const pairs = { same: { found: 4n, wanted: 4n }, more: { found: 9n, wanted: 4n }, less: { found: 1n, wanted: 4n } };
    expect(listDifferences(pairs)).to.deep.equal([
      { text: 'more: 9 instead of 4', drift: 5n },
      { text: 'less: 1 instead of 4', drift: 3n },
    ]);
  });
});
