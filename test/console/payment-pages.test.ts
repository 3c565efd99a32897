// Payments on the wallet page, over real sockets, with the sandbox's provider, whose buttons stand for what payers do.
import { expect } from 'chai';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOwner } from '../../testkit/pages.ts';

const WALLET = '/account/wallet';
const RUB = 1_000_000n;

describe('payment pages of an owner', () => {
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;
  let stranger: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    stranger = await setUpOwner(test, (await test.account('0')).id);
  });
  beforeEach(async () => {
    account = await test.account('0');
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  /** Submits the payment form and returns the page of the payment. */
  async function order(amount: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { status, headers, text } = await owner.submit(WALLET, { amount, ...more });
    expect(status, text).to.equal(303);
    expect(headers.location).to.match(/^\/account\/wallet\?order=pay_\w+$/);
    return String(headers.location);
  }

  const findPayLink = (html: string) => /class="button" href="([^"]+)"/.exec(html)?.[1] ?? '';

  /** Presses a button of the provider's page, and returns the path it leads back to. */
  async function press(page: string, button: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const link = findPayLink((await owner.get(page)).text);
    const { status, headers } = await owner.post(new URL(link).pathname, { button, ...more });
    expect(status).to.equal(303);
    return String(headers.location).slice(test.url.length);
  }

  const avail = async () => (await test.wallet(account)).avail;

  it('lead from the payment page to the credit, and to a receipt with every digit', async () => {
    const page = await order('1500,50');
    const waiting = await owner.get(page);
    expect(waiting.text).to.contain('waiting for payment').and.to.contain('₽1,500.50');
    // A script refreshes it until the outcome is known; without scripts a link does.
    expect(waiting.text).to.contain('data-again').and.to.contain('/static/live.js').and.to.contain('>Check again</a>');
    expect(findPayLink(waiting.text).startsWith(`${test.url}/payments/sandbox/page/sb-`)).to.equal(true);
    expect((await owner.get(page.replace('order=', 'lang=ru&order='))).text).to.contain('Перейти к оплате');
    const back = await press(page, 'paid');
    expect(back).to.equal(page);
    const paid = await owner.get(`${back}&lang=en`);
    expect(paid.text).to.contain('The money is in the wallet.').and.not.to.contain('class="button"');
    expect(paid.text).not.to.contain('data-again').and.not.to.contain('Check again');
    expect(await avail()).to.equal(1500n * RUB + RUB / 2n);
    const list = await owner.get(WALLET);
    expect(list.text).to.contain(page.replaceAll('&', '&amp;')).and.to.contain('credited');
    const receipt = await owner.get(page.replace('wallet', 'wallet/receipt'));
    const id = page.replace(/^.*=/, '');
    const { provider, ref } = (await test.store.payments.get(id)) ?? {};
    expect(receipt.text).to.contain(`pay:${provider}:${ref}`).and.to.contain('₽1,500.50').and.to.contain(account.id);
  });

  it('ask the provider when the payer returns before any webhook', async () => {
    const page = await order('1000');
    await press(page, 'silent');
    expect(await avail()).to.equal(0n);
    expect((await owner.get(page)).text).to.contain('The money is in the wallet.');
    expect(await avail()).to.equal(1000n * RUB);
  });

  it('credit nothing when a page is opened, whatever its query', async () => {
    const page = await order('1000');
    for (const more of ['', '&status=succeeded', '&paid=1']) {
      expect((await owner.get(page + more)).text).to.contain('waiting for payment');
    }
    expect((await owner.get(page.replace('wallet', 'wallet/receipt'))).status).to.equal(404);
    expect(await avail()).to.equal(0n);
  });

  it('explain in both languages a payment that was not paid, or not as ordered', async () => {
    const declined = await order('1000');
    await press(declined, 'insufficient_funds');
    expect((await owner.get(declined)).text)
      .to.contain('declined or canceled')
      .and.to.contain('The provider says: not enough money on the card.')
      .and.to.contain('Pay again')
      .and.not.to.contain('data-again');
    expect((await owner.get(`${declined}&lang=ru`)).text)
      .to.contain('Платёж отклонён')
      .and.to.contain('на карте недостаточно денег')
      .and.not.to.contain('insufficient_funds');
    await owner.get('/account?lang=en');
    const wrong = await order('1000');
    await press(wrong, 'wrong-sum');
    expect((await owner.get(wrong)).text).to.contain('an operator is checking it');
    expect((await owner.get(`${wrong}&lang=ru`)).text).to.contain('его проверяет оператор');
    expect(await avail()).to.equal(0n);
  });

  it('list refunds', async () => {
    const page = await order('1000');
    const link = findPayLink((await owner.get(page)).text);
    await press(page, 'paid');
    await owner.post(new URL(link).pathname, { button: 'half' });
    const list = await owner.get(WALLET);
    expect(list.text).to.contain('partly refunded').and.to.contain('refunded').and.to.contain('₽500.00');
    const receipt = await owner.get(page.replace('wallet', 'wallet/receipt'));
    expect(receipt.text).to.contain('refund:sandbox:').and.to.contain('\u2212₽500.00');
  });

  it('refuse sums that are invalid, too small or too large, and keep the input', async () => {
    for (const amount of ['', '0', '-5', '1000.001', '999.99', '1e6', '1000001', 'x"><b>']) {
      const reply = await owner.submit(WALLET, { amount, save: 'yes' });
      expect(reply.status, amount).to.equal(400);
      expect(reply.text).to.contain('name="save" type="checkbox" value="yes" checked');
      expect(reply.text).to.contain('id="amount-error"');
      expect(reply.text).not.to.contain('"><b>');
    }
    expect((await owner.submit(WALLET, { amount: '999.99' })).text).to.contain('from ₽1,000.00 to ₽1,000,000.00');
    expect((await owner.submit(WALLET, { amount: '1000', method: 'sandbox:sbp' })).status).to.equal(400);
    expect(await test.store.payments.list({ wallet: account.id, limit: 5 })).to.deep.equal([]);
    await press(await order('1000'), 'paid');
    await order('1');
  });

  it('offer usual sums, which fill in the form', async () => {
    const payer = await setUpOwner(test, (await test.account('0')).id);
    const offered = async (path: string) => {
      const { text } = await payer.get(path);
      return [...text.matchAll(/href="\/account\/wallet\?amount=(\d+)#pay"( aria-current)?/g)].map(([, rub, now]) => [
        Number(rub),
        now !== undefined,
      ]);
    };
    expect(await offered('/account/wallet')).to.deep.equal([1000, 3000, 5000, 10_000].map((rub) => [rub, false]));
    expect(await offered('/account/wallet?amount=3000')).to.deep.include([3000, true]);
    const filled = (await payer.get('/account/wallet?amount=3000')).text;
    expect(filled).to.match(/<input id="amount"[^>]* value="3000"/);
    expect((await payer.get('/account/wallet?amount=77')).text).to.match(/<input id="amount"[^>]* value=""/);
  });

  it('ignore unknown values in the query', async () => {
    for (const path of [WALLET, '/account/settings', '/account/settings/alerts']) {
      expect((await owner.get(`${path}?done=constructor&payments=x&before=x`)).status, path).to.equal(200);
    }
  });

  it('allow at most ten unpaid payments', async () => {
    for (let made = 0; made < 10; made += 1) await order('1000');
    const reply = await owner.submit(WALLET, { amount: '1000' });
    expect([reply.status, reply.text.includes('Too many payments')]).to.deep.equal([400, true]);
  });

  it('store a card with the consent shown, and never charge it after its removal', async () => {
    await press(await order('1000'), 'paid');
    expect(await test.store.payments.methods(account.id)).to.deep.equal([]);
    await press(await order('1000', { save: 'yes' }), 'paid', { card: 'good' });
    const [consent] = await test.store.payments.consents(account.id);
    const page = await owner.get(WALLET);
    expect(page.text).to.contain(consent?.text);
    expect([consent?.kind, consent?.textVersion, consent?.address]).to.deep.equal(['save_method', '2', '127.0.0.1']);
    const [card] = await test.store.payments.methods(account.id);
    expect(page.text).to.contain(`•••• ${card?.last4}`).and.not.to.contain(`value="${card?.ref}"`);
    const foreign = await stranger.submit(WALLET, { change: 'remove_card', card: card?.id ?? '' });
    expect(foreign.status).to.equal(404);
    expect((await owner.submit(WALLET, { change: 'remove_card', card: card?.id ?? '' })).status).to.equal(303);
    expect((await test.store.payments.methods(account.id))[0]?.removedAt).to.be.a('number');
    // All owners are notified of both.
    const alarms = await test.store.alerts.alarms(account.id);
    const told = alarms.map(({ state }) => JSON.parse(state).delivery.event);
    expect(told.map(({ type, data }) => [type, data.card])).to.have.deep.members([
      ['card.saved', `${card?.brand} •••• ${card?.last4}`],
      ['card.removed', `${card?.brand} •••• ${card?.last4}`],
    ]);
    expect((await owner.get(WALLET)).text).not.to.contain('••••');
  });

  it('show nothing of another account, and switch to the own account that a payment belongs to', async () => {
    const page = await order('1000');
    for (const path of [page, page.replace('wallet', 'wallet/receipt'), `${WALLET}?order=pay_none`]) {
      expect((await stranger.get(path)).status, path).to.equal(404);
    }
    const second = await test.account();
    const { email } = owner;
    const user = await test.store.users.find(email);
    await test.store.users.join({ user: user?.id ?? '', account: second.id, role: 'owner' });
    // Without a name in the query, the first of the two in order of id is shown.
    const [first = '', last = ''] = [account.id, second.id].sort();
    const wayTo = async (id: string) =>
      String((await owner.submit(`${WALLET}?account=${id}`, { amount: '1000' })).headers.location);
    const near = await wayTo(first);
    const far = await wayTo(last);
    const bare = (path: string) => owner.get(path.replace(/&account=.*$/, ''));
    expect([(await bare(near)).status, (await bare(far)).headers.location]).to.deep.equal([200, far]);
    expect((await owner.get(far)).text).to.contain('waiting for payment');
  });

  it('say whom to ask if no provider is configured', async () => {
    const bare = await startGateway({ catalog: { upstreams: {}, models: [] } });
    const { id } = await bare.account('0');
    const visitor = await setUpOwner(bare, id);
    const page = await visitor.get(WALLET);
    expect(page.text)
      .to.contain(`top up the account ${id}`)
      .and.to.contain('₽1,000.00')
      .and.not.to.contain('name="amount"');
    await bare.stop();
  });

  describe('with an automatic top-up', () => {
    const AUTO = { change: 'auto', threshold: '500', amount: '1000', cap: '3000', consent: 'yes' };
    let card: string;

    beforeEach(async () => {
      card = await saved('good');
    });

    /** Pays 1000 RUB and saves the card. */
    async function saved(name: string): Promise<string> {
      await press(await order('1000', { save: 'yes' }), 'paid', { card: name });
      return (await test.store.payments.methods(account.id))[0]?.id ?? '';
    }

    const auto = () => test.store.payments.autoTopup(account.id);
    const change = (fields: Readonly<Record<string, string>>) => owner.submit(WALLET, { ...AUTO, card, ...fields });

    it('turn it on with a consent, show it, change it and turn it off', async () => {
      expect((await change({})).headers.location).to.equal(`${WALLET}?done=auto`);
      const [consent] = await test.store.payments.consents(account.id);
      const row = await auto();
      expect([row?.enabled, row?.threshold, row?.amount, row?.cap]).to.deep.equal([
        ...[true, 500n * RUB, 1000n * RUB, 3000n * RUB],
      ]);
      expect([row?.method, row?.consent, consent?.kind]).to.deep.equal([card, consent?.id, 'auto_topup']);
      const page = await owner.get(WALLET);
      expect(page.text).to.contain('id="auto-cap"').and.to.contain('value="3000.00"').and.to.contain('>on<');
      expect((await test.store.accounts.get(account.id))?.autoTopup.enabled).to.equal(true);
      expect((await change({ cap: '5000,50' })).status).to.equal(303);
      expect((await auto())?.cap).to.equal(5000n * RUB + RUB / 2n);
      expect((await owner.submit(WALLET, { change: 'auto_off' })).headers.location).to.equal(`${WALLET}?done=auto_off`);
      expect((await auto())?.enabled).to.equal(false);
    });

    it('ask before an immediate charge, and charge nothing until it is confirmed', async () => {
      const asked = await change({ threshold: '1500' });
      expect(asked.status).to.equal(200);
      expect(asked.text).to.contain('charges ₽1,000.00 now').and.to.contain('•••• 4242');
      expect(asked.text).not.to.contain('charged again');
      const low = await change({ threshold: '250000' });
      expect(low.text).to.contain('the same amount is charged again right after it');
      expect(await auto()).to.equal(undefined);
      const fields = Object.fromEntries(
        [...asked.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
          name ?? '',
          value ?? '',
        ]),
      );
      expect((await owner.post(WALLET, fields)).status).to.equal(303);
      expect((await auto())?.threshold).to.equal(1500n * RUB);
      await until(async () => (await auto())?.dayCount === 1);
    });

    it('refuse sums out of bounds, a missing consent, and cards of others', async () => {
      const wrong: readonly Readonly<Record<string, string>>[] = [
        ...['', '0', '-1', '1000001', 'x'].map((threshold) => ({ threshold })),
        ...['', '0.5', '1000.001', '1000001', 'x'].map((amount) => ({ amount, cap: '9000000' })),
        ...['', '999.99', 'x'].map((cap) => ({ cap })),
        { card: 'pm_none' },
      ];
      for (const fields of wrong) expect((await change(fields)).status, JSON.stringify(fields)).to.equal(400);
      const { consent: _, ...silent } = AUTO;
      expect((await owner.submit(WALLET, { ...silent, card })).text).to.contain('without your consent');
      expect((await stranger.submit(WALLET, { ...AUTO, card })).status).to.equal(400);
      expect(await auto()).to.equal(undefined);
    });

    it('keep within the bounds of the catalog, also after it changes', async () => {
      await change({});
      const autoTopup = { threshold: { max: '400' }, amount: { min: '600', max: '800' }, cap: { max: '2000' } };
      test.writeCatalog({ autoTopup });
      expect(await test.gateway.reload()).to.equal(true);
      try {
        expect((await owner.get(WALLET)).text).to.contain('outside the limits of this service');
        for (const [fields, says] of [
          [{ threshold: '400.01', amount: '700' }, 'from ₽0.01 to ₽400.00'],
          [{ threshold: '400', amount: '599.99' }, 'from ₽600.00 to ₽800.00'],
          [{ threshold: '400', amount: '800.01' }, 'from ₽600.00 to ₽800.00'],
          [{ threshold: '400', amount: '700', cap: '2000.01' }, 'from ₽0.01 to ₽2,000.00'],
        ] as const) {
          const reply = await change(fields);
          expect([reply.status, reply.text.includes(says)], says).to.deep.equal([400, true]);
        }
        expect((await change({ threshold: '400', amount: '800', cap: '2000' })).status).to.equal(303);
        expect((await auto())?.amount).to.equal(800n * RUB);
      } finally {
        test.writeCatalog({});
        await test.gateway.reload();
      }
    });

    it('show a pause and its reason, and resume with another card only', async () => {
      await change({});
      const row = await auto();
      const paused = { pausedAt: Date.now(), reason: 'card_expired', declines: 4, nextAt: 5, dayCount: 2, order: null };
      await test.store.payments.changeAutoTopup({ ...(row as NonNullable<typeof row>), ...paused });
      const page = await owner.get(WALLET);
      expect(page.text).to.contain('the card is not charged').and.to.contain('the card has expired');
      expect((await change({ cap: '4000' })).status).to.equal(303);
      expect([(await auto())?.reason, (await auto())?.declines]).to.deep.equal(['card_expired', 4]);
      const other = await saved('soft');
      expect((await change({ card: other })).status).to.equal(303);
      const after = await auto();
      expect([after?.pausedAt, after?.declines, after?.dayCount]).to.deep.equal([null, 0, 2]);
    });

    it('end it when its card is removed', async () => {
      await change({});
      await owner.submit(WALLET, { change: 'remove_card', card });
      expect((await auto())?.enabled).to.equal(false);
      expect((await owner.get(WALLET)).text).to.contain('tick “Save the card”');
    });
  });
});
