// An unreadable row is reported, and does not hide problems of later rows.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { STORES } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { fillStore } from './filled-store.ts';
import { openRaw, type Raw, type Row } from './raw-rows.ts';

/** Column, row, a value that no reader expects, and the message of the audit. */
type Damage = readonly [place: string, id: string, value: unknown, problem: RegExp];

const TEXTS: readonly Damage[] = [
  ['charges.prices', 'settled_acc_a', '{', /call settled_acc_a: its prices are \{/],
  ['charges.usage', 'twin_acc_a', 'x', /call twin_acc_a: its usage is x/],
  ['payments.refunds', 'pay_partly', '[', /payment pay_partly: its refunds or its dispute cannot be read/],
  ['payments.facts', 'pay_begun', '', /payment pay_begun: its mark/],
  ['jobs.facts', 'job_made_acc_b', '', /job job_made_acc_b: its mark/],
];
const FILE: readonly Damage[] = [
  ['openings.budgets', 'acc_d', '{', /opening of acc_d: its mark/],
  ['keys.models', 'key_a', '[', /key key_a: its mark/],
];
const DOCUMENTS: readonly Damage[] = [
  ['accounts.autoTopup', 'acc_a', undefined, /acc_a: its autoTopup cannot be read/],
  ['openings.budgets', 'acc_d', 'none', /opening of acc_d: its mark/],
  ['keys.limits', 'key_a', undefined, /key key_a: its mark/],
  ['wallets.avail', 'acc_c', 1.5, /acc_c: the wallet is not valid/],
  ['charges.reserved', 'over_acc_a', 'much', /call over_acc_a: it is not a valid charge/],
  ['payments.credited', 'pay_refunded', 'much', /payment pay_refunded: /],
];

for (const kind of STORES) {
  describe(`the audit of unreadable rows: ${kind.name}`, () => {
    let database: StoreDatabase;
    let store: Store;
    let raw: Raw;
    before(async () => {
      database = await kind.create();
      store = await openStore(database.url, { inProcess: true });
      await fillStore(store);
      raw = await openRaw(database.url);
    });
    after(async () => {
      await raw.close();
      await store.close();
      await database.remove();
    });

    it('reports all of them, and other damage too', async () => {
      const all: readonly Damage[] = [...TEXTS, ...(kind.name === 'sqlite' ? FILE : DOCUMENTS)];
      const last: Damage = [
        'auto_topups.dayCount',
        'acc_a',
        7,
        /automatic top-up: payments of the day: 7 instead of 0 to 1/,
      ];
      for (const [place, id, value] of [...all, last]) {
        const [table = '', column = ''] = place.split('.');
        const rows = (await raw.tables()).get(table) ?? [];
        const row = rows.find((found) => (found.id ?? found.wallet) === id) as Row;
        await raw.change({ table, column, row, value: row[column] }, value);
      }
      const { problems } = await verifyLedger(store);
      const text = problems.map(({ wallet, problem }) => `${wallet}: ${problem}`).join('\n');
      for (const [, , , problem] of [...all, last]) expect(text).to.match(problem);
    });
  });
}
