// Automatic top-up on the wallet page: the cards to choose from, the sum of this month, and what is logged.
import { expect } from 'chai';
import { formatDay } from '../../../lib/money/days.ts';
import { CARD_UNUSABLE } from '../../../lib/payments/topup-rules.ts';
import type { AutoTopupRow } from '../../../lib/store/ports/payments.ts';
import { lose } from '../../../testkit/faulty-store.ts';
import { RUB } from '../../contract/store/context.ts';
import { newAuto, newMethod } from '../../contract/store/payments.ts';
import { openPages, type Pages } from '../stage.ts';

const WALLET = '/account/wallet';
const WISH = { change: 'auto', threshold: '500', amount: '600', cap: '3000', consent: 'yes' };

describe('automatic top-ups on the page of the wallet', () => {
  let pages: Pages;
  let owner: Awaited<ReturnType<Pages['owner']>>;
  let card: string;

  before(async () => {
    pages = await openPages();
  });
  beforeEach(async () => {
    owner = await pages.owner();
    card = await addCard('till');
  });
  after(() => pages.close());

  const payments = () => pages.faults.real.payments;
  async function addCard(provider: string, account = owner.account): Promise<string> {
    const row = newMethod(account, { provider });
    await payments().saveMethod(row);
    return row.id;
  }
  const setUp = (more: Partial<AutoTopupRow> = {}) =>
    payments().changeAutoTopup(newAuto(owner.account, { method: card, ...more }));
  const row = () => payments().autoTopup(owner.account);
  const deeds = async () => {
    const rows = await pages.faults.real.auditLog.page({ account: owner.account, limit: 5 });
    return rows.map(({ action, target, detail }) => [action, target, JSON.parse(detail)]);
  };

  it('offer the cards that can be charged, and accept no other', async () => {
    const [gone, removed] = [await addCard('gone'), await addCard('till')];
    await payments().removeMethod(removed, Date.now());
    const { text } = await owner.get(WALLET);
    expect(text).to.contain(`<option value="${card}">`);
    for (const other of [gone, removed]) {
      expect(text).not.to.contain(`<option value="${other}"`);
      const refused = await owner.submit(WALLET, { ...WISH, card: other });
      expect([refused.status, refused.text.includes('This card is no longer saved')]).to.deep.equal([400, true]);
    }
    expect(await row()).to.equal(undefined);
  });

  it('are logged when set up, changed or ended, and so is the removal of a card', async () => {
    expect((await owner.submit(WALLET, { ...WISH, card })).status).to.equal(303);
    expect((await owner.submit(WALLET, { change: 'auto_off' })).status).to.equal(303);
    expect((await owner.submit(WALLET, { change: 'remove_card', card })).status).to.equal(303);
    const detail = { threshold: '500.00', amount: '600.00', cap: '3000.00', card };
    expect(await deeds()).to.deep.equal([
      ['card.remove', card, {}],
      ['auto_topup.off', owner.account, {}],
      ['auto_topup.on', owner.account, detail],
    ]);
  });

  it('lose a removed card even if its owners cannot be notified', async () => {
    pages.faults.always('alerts.alarms', lose);
    const removed = await owner.submit(WALLET, { change: 'remove_card', card });
    pages.faults.always('alerts.alarms', undefined);
    expect(removed.status).to.equal(303);
    expect((await payments().method(card))?.removedAt).to.be.a('number');
  });

  it('count the charges of this month only', async () => {
    const month = formatDay(Date.now(), 'Europe/Moscow').slice(0, 7);
    await setUp({ month, monthSum: 700n * RUB, cap: 3000n * RUB });
    expect((await owner.get(WALLET)).text).to.contain('₽700.00 / ₽3,000.00');
    const known = await row();
    await payments().changeAutoTopup({ ...(known as AutoTopupRow), month: '2020-01' });
    expect((await owner.get(WALLET)).text).to.contain('₽0.00 / ₽3,000.00');
  });

  it('resume from a pause without declines after any change', async () => {
    const paused = { pausedAt: Date.now(), reason: CARD_UNUSABLE };
    await setUp(paused);
    expect((await owner.submit(WALLET, { ...WISH, card })).status).to.equal(303);
    expect(await row()).to.include({ pausedAt: null, reason: null });
  });

  it('show that they wait, and until when', async () => {
    const nextAt = Date.now() + 3_000_000;
    await setUp({ nextAt, declines: 1, reason: 'insufficient_funds' });
    const { text } = await owner.get(WALLET);
    expect(text).to.contain('waiting before the next attempt').and.to.contain('<dt>Next attempt</dt>');
    // Changing the amount does not end a wait after a decline.
    expect((await owner.submit(WALLET, { ...WISH, card })).status).to.equal(303);
    expect(await row()).to.include({ nextAt, declines: 1 });
    expect((await owner.submit(WALLET, { ...WISH, card: await addCard('till') })).status).to.equal(303);
    expect(await row()).to.include({ nextAt: 0, declines: 0 });
  });

  describe('without a payment provider', () => {
    let bare: Pages;

    before(async () => {
      bare = await openPages({ isPaid: false });
    });
    after(() => bare.close());

    it('can only be turned off', async () => {
      const visitor = await bare.owner();
      expect((await visitor.get(WALLET)).text).not.to.contain('Automatic top-up');
      await bare.faults.real.payments.changeAutoTopup(newAuto(visitor.account));
      const { text } = await visitor.get(WALLET);
      expect(text).to.contain('Automatic top-up').and.to.contain('value="auto_off"').and.not.to.contain('value="auto"');
      expect((await visitor.submit(WALLET, { change: 'auto_off' })).status).to.equal(303);
      expect((await bare.faults.real.payments.autoTopup(visitor.account))?.enabled).to.equal(false);
    });
  });
});
