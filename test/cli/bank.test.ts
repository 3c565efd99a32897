// `tollgate bank import`: a preview that changes nothing, then credits, once.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { saveSeller } from '../../lib/payments/papers/details.ts';
import { describePurpose, type Invoice } from '../../lib/payments/papers/invoices.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { SELLER, writeStatement } from '../../testkit/papers.ts';
import { newInvoice } from '../contract/store/bank-credits.ts';
import { createRig, type Rig } from './command.ts';

describe('cli bank import', () => {
  let rig: Rig;
  let account: string;
  let file: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'first')).account_id);
    file = join(dirname(String(rig.env.DATABASE_URL).replace(/^sqlite:/, '')), 'statement.txt');
  });
  after(() => rig.close());

  async function onStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openOwnStore(readConfig({ ...rig.env }));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  it('shows what each payment is for, then credits those that are certain, once', async () => {
    writeFileSync(file, writeStatement([]));
    expect(await rig.refused(1, 'bank', 'import', file)).to.contain('the details of the seller');
    const invoice = await onStore(async (store): Promise<Invoice> => {
      await saveSeller(store, SELLER);
      return newInvoice(store, account);
    });
    expect(await rig.refused(1, 'bank', 'import', file)).to.contain('has no payments to the account');
    expect(await rig.refused(1, 'bank', 'import', `${file}.gone`)).to.contain('cannot be read');
    const paid = { Сумма: '1500.00', НазначениеПлатежа: describePurpose(invoice) };
    const other = { Номер: '42', Сумма: '7.00', НазначениеПлатежа: 'за что-то' };
    const outgoing = { Номер: '43', ПолучательСчет: '40702810000000000777' };
    writeFileSync(file, writeStatement([paid, other, outgoing]));
    const results = async (...more: string[]) => {
      const { payments } = await rig.json('bank', 'import', file, ...more);
      return (payments as { result: string }[]).map(({ result }) => result);
    };
    expect(await results()).to.deep.equal(['certain', 'no_number']);
    expect(await rig.json('wallet', 'show', account)).to.include({ topped_up_total_rub: 0 });
    expect(await results('--book')).to.deep.equal(['credited', 'no_number']);
    expect(await results('--book')).to.deep.equal(['credited', 'no_number']);
    expect(await rig.text('bank', 'import', file)).to.match(/1500\.00 +7707083893 +1 +credited/);
    expect(await rig.json('wallet', 'show', account)).to.include({ topped_up_total_rub: 1500 });
    const lines = await onStore((store) => store.auditLog.page({ limit: 10 }));
    expect(lines.map(({ action }) => action).filter((action) => action.startsWith('bank'))).to.deep.equal([
      'bank.import',
      'bank.credit',
      'bank.import',
    ]);
    // The invoice is paid by the first of two; a line that is there twice is one payment.
    const next = await onStore((store) => newInvoice(store, account));
    const twice = ['51', '51', '52'].map((number) => ({
      ...paid,
      Номер: number,
      НазначениеПлатежа: describePurpose(next),
    }));
    writeFileSync(file, writeStatement(twice));
    expect(await results('--book')).to.deep.equal(['credited', 'credited', 'paid_already']);
    // Once kept as doubtful, a payment stays so, whatever a later file says of it.
    const last = await onStore((store) => newInvoice(store, account));
    const doubtful = [{ ...paid, Номер: '61', НазначениеПлатежа: describePurpose(last) }];
    const plain = writeStatement(doubtful, { encoding: 'UTF-8' }).toString();
    for (const text of [plain.replace('КонецДокумента', 'Сумма=9.00\r\nКонецДокумента'), plain]) {
      writeFileSync(file, text);
      expect(await results('--book')).to.deep.equal(['contradiction']);
    }
    expect(await results()).to.deep.equal(['contradiction']);
    writeFileSync(file, 'not a statement');
    expect(await rig.refused(1, 'bank', 'import', file)).to.contain('is not a bank statement');
  });
});
