// Finished payments: their receipts with every movement of money, and their list.
import { expect } from 'chai';
import type { Payment } from '../../../lib/money/payment.ts';
import { applied, RUB } from '../../contract/store/context.ts';
import { changed, creditOf, newOrder, newSucceeded, refundOf, reverseOf } from '../../contract/store/payments.ts';
import { openPages, type Pages } from '../stage.ts';

const WALLET = '/account/wallet';

describe('payments on the page of the wallet', () => {
  let pages: Pages;
  let owner: Awaited<ReturnType<Pages['owner']>>;

  before(async () => {
    pages = await openPages();
  });
  beforeEach(async () => {
    owner = await pages.owner();
  });
  after(() => pages.close());

  const store = () => pages.faults.real;
  const found = async ({ id }: Pick<Payment, 'id'>) => (await store().payments.get(id)) as Payment;

  async function credited(): Promise<Payment> {
    const payment = await newSucceeded(store(), owner.account);
    await applied(store(), creditOf(payment));
    return found(payment);
  }

  it('have a receipt with the payment, its refunds, and what the bank took back', async () => {
    const payment = await credited();
    const paths = [`${WALLET}/receipt?order=${payment.id}`, `${WALLET}?order=${payment.id}`];
    const [receipt = '', page = ''] = paths;
    await applied(store(), refundOf(payment, 'back-1', 300n * RUB));
    await changed(store(), payment, { kind: 'dispute', dispute: 'CB-7', amount: 200n * RUB });
    await applied(store(), reverseOf(await found(payment), 'CB-7', 200n * RUB));
    const { text } = await owner.get(receipt);
    const entries = [...text.matchAll(/<code>((?:pay|refund|dispute):[^<]+)<\/code>/g)].map(([, id]) => id);
    expect(entries).to.deep.equal([`pay:till:${payment.ref}`, 'refund:till:back-1', 'dispute:till:CB-7']);
    const changes = [...text.matchAll(/<dt>Balance change<\/dt><dd>([^<]+)</g)].map(([, change]) => change);
    expect(changes).to.deep.equal(['+₽1,000.00', '\u2212₽300.00', '\u2212₽200.00']);
    const shown = (await owner.get(page)).text;
    expect(shown).to.contain('Your bank took this payment back.').and.to.contain('role="alert"');
    expect(shown).to.contain('<dt>Credited</dt><dd>₽1,000.00').and.to.contain('<dt>Refunded</dt><dd>₽500.00');
    for (const path of paths) expect((await (await pages.owner()).get(path)).status).to.equal(404);
  });

  it('have no receipt before they are credited', async () => {
    const payment = await newSucceeded(store(), owner.account);
    expect((await owner.get(`${WALLET}/receipt?order=${payment.id}`)).status).to.equal(404);
    expect((await owner.get(`${WALLET}?order=${payment.id}`)).text)
      .to.contain('Your payment went through')
      .and.to.contain('data-again')
      .and.not.to.contain('<dt>Credited</dt>');
  });

  it('link to a first key, and not to a second one', async () => {
    const { id } = await credited();
    const page = async () => (await owner.get(`${WALLET}?order=${id}`)).text;
    expect(await page()).to.contain('Next: connect a program');
    await owner.submit('/account/keys', { name: 'first' });
    expect(await page()).not.to.contain('Next: connect a program');
  });

  it('are listed twenty per page, newest first, with a receipt if credited', async () => {
    const at = Date.now();
    const ids: string[] = [];
    for (let number = 0; number < 21; number += 1) {
      const order = newOrder(owner.account, { createdAt: at - number * 1000 });
      await store().payments.create(order);
      ids.push(order.id);
    }
    const paid = await newSucceeded(store(), owner.account, { createdAt: at - 60_000 });
    await applied(store(), creditOf(paid));
    const listed = (text: string) =>
      [...text.matchAll(/href="\/account\/wallet\?order=(pay_\w+)"/g)].map(([, id]) => id);
    const first = await owner.get(WALLET);
    expect(listed(first.text)).to.deep.equal(ids.slice(0, 20));
    const [, older = ''] = /href="(\/account\/wallet\?payments=[^"]+)" rel="next"/.exec(first.text) ?? [];
    const second = await owner.get(older);
    expect(listed(second.text)).to.deep.equal([ids[20], paid.id]);
    expect(second.text).not.to.match(/payments=[^"]+" rel="next"/);
    const receipts = [...second.text.matchAll(/receipt\?order=(pay_\w+)/g)].map(([, id]) => id);
    expect(receipts).to.deep.equal([paid.id]);
  });
});
