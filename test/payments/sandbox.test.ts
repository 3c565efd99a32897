// The payments of the sandbox: what each button does, which webhooks it sends, and that payments survive a restart.
import { expect } from 'chai';
import type { HostClock, PageReply, PaymentProvider, SavedMethod } from '../../lib/upstream/contract/payment.ts';
import plugin from '../../payments/sandbox/index.ts';
import { createMemory, makeOrder, makeRefund, openPayments, RUB } from '../../testkit/payments.ts';
import { expectRecorded } from '../../testkit/recorded.ts';
import { signal, thrownBy } from './stage.ts';

const LINK_MS = 60_000;
const LATE_MS = 90_000;

describe('payments of the sandbox', () => {
  let now: number;
  let memory: ReturnType<typeof createMemory>;
  let provider: PaymentProvider;

  const clock: HostClock = {
    now: () => now,
    sleep: (_ms, until) => new Promise((_, reject) => until.addEventListener('abort', () => reject(until.reason))),
  };
  const open = () => openPayments(plugin, { linkMs: LINK_MS, lateMs: LATE_MS }, { memory, clock }).provider;
  const fetch = (id: string) => provider.fetch({ id }, signal);

  beforeEach(() => {
    now = 1_800_000_000_000;
    memory = createMemory();
    provider = open();
  });

  function visit(id: string, form?: Record<string, string>, query: Record<string, string> = {}): Promise<PageReply> {
    const method = form ? 'POST' : 'GET';
    return provider.page?.({ method, path: `/${id}`, query, form: form ?? {} }, signal) ?? expect.fail('no page');
  }

  /** What the webhooks ask the gateway to fetch. */
  function heard({ notices = [] }: PageReply): readonly unknown[] {
    return notices.map((webhook) => provider.notice({ ...webhook, address: '127.0.0.1' }));
  }

  async function started(more = {}) {
    const order = makeOrder({ createdAt: now, ...more });
    return { order, ...(await provider.start(order, signal)) };
  }

  it('are not live', () => {
    expect([provider.live, provider.shop, provider.methods]).to.deep.equal([false, 'sandbox', ['card']]);
    expect([plugin.contract, plugin.name, provider.keysLiveMs]).to.deep.equal([1, 'sandbox', 86_400_000]);
  });

  it('start with a page whose id is hard to guess and the same for the same key', async () => {
    const { order, id, payUrl, expiresAt } = await started();
    expect([payUrl, expiresAt]).to.deep.equal([`${order.pageUrl}/${id}`, now + LINK_MS]);
    expect(id).to.match(/^sb-[0-9a-f]{32}$/);
    now += 1000;
    expect(await provider.start(order, signal)).to.deep.equal({ id, payUrl, expiresAt });
    expect(await fetch(id)).to.deep.equal({
      id,
      status: 'pending',
      amount: order.amount,
      currency: 'RUB',
      shop: 'sandbox',
      test: true,
      order: order.id,
      saved: null,
      refunds: [],
      reason: null,
    });
  });

  it('expire with their link', async () => {
    const { id } = await started();
    now += LINK_MS - 1;
    expect((await fetch(id)).status).to.equal('pending');
    now += 1;
    expect(await fetch(id)).to.deep.include({ status: 'canceled', reason: { kind: 'expired', code: 'link_expired' } });
    await visit(id, { button: 'paid' });
    expect((await fetch(id)).status).to.equal('canceled');
  });

  for (const [button, webhooks] of [
    ['paid', 1],
    ['twice', 2],
    ['silent', 0],
  ] as const) {
    it(`are paid by \`${button}\`, which sends ${webhooks} webhooks`, async () => {
      const { order, id } = await started();
      const reply = await visit(id, { button });
      expect([reply.status, reply.location]).to.deep.equal([303, order.returnUrl]);
      expect(heard(reply)).to.deep.equal(Array(webhooks).fill({ fetch: [id] }));
      expect(await fetch(id)).to.deep.include({ status: 'succeeded', amount: order.amount, currency: 'RUB' });
    });
  }

  it('can be paid late, even after their link expired, without a webhook', async () => {
    const { id } = await started();
    now += LINK_MS - 1;
    expect(heard(await visit(id, { button: 'late' }))).to.deep.equal([]);
    now += LATE_MS - 1;
    expect((await fetch(id)).status).to.equal('pending');
    now += 1;
    expect((await fetch(id)).status).to.equal('succeeded');
  });

  it('can have another sum or currency than ordered', async () => {
    const sum = await started();
    const currency = await started();
    expect(heard(await visit(sum.id, { button: 'wrong-sum' }))).to.deep.equal([{ fetch: [sum.id] }]);
    expect(heard(await visit(currency.id, { button: 'wrong-currency' }))).to.deep.equal([{ fetch: [currency.id] }]);
    const paid = await fetch(sum.id);
    expect(paid).to.include({ status: 'succeeded', currency: 'RUB' });
    expect(paid.amount).not.to.equal(sum.order.amount);
    expect(await fetch(currency.id)).to.include({
      status: 'succeeded',
      currency: 'USD',
      amount: currency.order.amount,
    });
  });

  for (const [kind, ...codes] of [
    ['soft', 'insufficient_funds', 'limit_exceeded', 'confirmation_failed', 'declined_without_reason'],
    ['hard', 'card_expired', 'card_blocked', 'permission_revoked'],
    ['technical', 'bank_unavailable'],
    ['expired', 'canceled_by_payer'],
  ]) {
    for (const code of codes) {
      it(`are declined for ${code}, which is ${kind}`, async () => {
        const { order, id } = await started({ saveMethod: true });
        const reply = await visit(id, { button: code });
        expect([reply.location, heard(reply)]).to.deep.equal([order.returnUrl, [{ fetch: [id] }]]);
        expect(await fetch(id)).to.deep.include({ status: 'canceled', saved: null, reason: { kind, code } });
      });
    }
  }

  it('are decided once', async () => {
    const { id } = await started();
    await Promise.all([visit(id, { button: 'card_expired' }), visit(id, { button: 'paid' })]);
    await visit(id, { button: 'wrong-sum' });
    expect(await fetch(id)).to.deep.include({ status: 'canceled', reason: { kind: 'hard', code: 'card_expired' } });
  });

  it('are known to another process and after a restart', async () => {
    const { order, id } = await started();
    await visit(id, { button: 'paid' });
    provider = open();
    expect((await fetch(id)).status).to.equal('succeeded');
    expect(await provider.find(order, signal)).to.include({ id, order: order.id });
    expect(await provider.find(makeOrder(), signal)).to.equal(undefined);
    expect(await thrownBy(fetch('sb-0'))).to.include({ kind: 'missing', status: 404 });
  });

  describe('a card', () => {
    async function save(card: string): Promise<SavedMethod> {
      const { id } = await started({ saveMethod: true });
      await visit(id, { button: 'paid', card });
      return (await fetch(id)).saved ?? expect.fail('it was not saved');
    }
    const charge = (saved: SavedMethod, more = {}, until = signal) =>
      provider.charge?.(makeOrder({ createdAt: now, ...more }), saved, until) ?? expect.fail('no charges');

    it('is saved only with the payer’s consent', async () => {
      const { id } = await started();
      await visit(id, { button: 'paid', card: 'good' });
      expect((await fetch(id)).saved).to.equal(null);
    });

    it('is shown as what it is', async () => {
      const cards = [];
      for (const card of ['good', 'soft', 'hard', 'hang']) {
        const { id: _, ...shown } = await save(card);
        cards.push(shown);
      }
      const every = { kind: 'card', brand: 'Sandbox', expiry: '2099-12' };
      expect(cards).to.deep.equal([
        { ...every, last4: '4242', fingerprint: 'good' },
        { ...every, last4: '0051', fingerprint: 'soft' },
        { ...every, last4: '0054', fingerprint: 'hard' },
        { ...every, last4: '0091', fingerprint: 'hang' },
      ]);
    });

    it('keeps its id if it is saved twice', async () => {
      const one = await save('good');
      const two = await save('good');
      const other = await save('soft');
      expect(one.id).not.to.equal(two.id);
      expect([one.fingerprint, one.last4]).to.deep.equal([two.fingerprint, two.last4]);
      expect(one.fingerprint).not.to.equal(other.fingerprint);
    });

    it('is charged once per key if it is good', async () => {
      const saved = await save('good');
      const order = { idempotenceKey: 'k-1', id: 'pay_1', amount: 500n * RUB };
      const state = await charge(saved, order);
      expect(state).to.deep.include({ status: 'succeeded', amount: 500n * RUB, order: 'pay_1', saved });
      expect(await charge(saved, order)).to.deep.equal(state);
    });

    for (const [card, kind, code] of [
      ['soft', 'soft', 'insufficient_funds'],
      ['hard', 'hard', 'card_expired'],
    ] as const) {
      it(`may be declined for ${code}, every time`, async () => {
        const saved = await save(card);
        for (const _ of [1, 2])
          expect(await charge(saved)).to.deep.include({ status: 'canceled', reason: { kind, code } });
      });
    }

    it('may never answer, which leaves no payment', async () => {
      const saved = await save('hang');
      const order = makeOrder({ createdAt: now });
      const error = await thrownBy(charge(saved, order, AbortSignal.timeout(20)));
      expect(error).to.include({ name: 'TimeoutError' });
      expect(await provider.find(order, signal)).to.equal(undefined);
    });

    it('is refused if it belongs to another shop', async () => {
      const saved = { ...(await save('good')), id: 'silver-1' };
      expect(await thrownBy(charge(saved))).to.include({ kind: 'request' });
    });
  });

  describe('refunds', () => {
    it('by the gateway are made once per key, and never for more than is left', async () => {
      const { id } = await started();
      expect(await thrownBy(provider.refund?.(makeRefund(id), signal))).to.include({ kind: 'request' });
      await visit(id, { button: 'paid' });
      const order = makeRefund(id, { amount: 600n * RUB });
      const refund = await provider.refund?.(order, signal);
      expect(refund).to.include({ status: 'succeeded', amount: 600n * RUB, currency: 'RUB', order: order.id });
      expect(await provider.refund?.(order, signal)).to.deep.equal(refund);
      const more = makeRefund(id, { amount: 401n * RUB });
      expect(await thrownBy(provider.refund?.(more, signal))).to.include({ kind: 'request' });
      expect((await fetch(id)).refunds).to.deep.equal([refund]);
    });

    it('on the page count as made at the provider, and send a webhook', async () => {
      const { id } = await started();
      expect(heard(await visit(id, { button: 'refund' }))).to.deep.equal([]);
      await visit(id, { button: 'paid' });
      const reply = await visit(id, { button: 'half' });
      expect([reply.location, heard(reply)]).to.deep.equal([`./${id}`, [{ fetch: [id] }]]);
      await visit(id, { button: 'refund' });
      expect(heard(await visit(id, { button: 'refund' }))).to.deep.equal([]);
      const small = await started({ amount: 10_000n });
      await visit(small.id, { button: 'silent' });
      expect(heard(await visit(small.id, { button: 'half' })), 'half a kopeck').to.deep.equal([]);
      expect(heard(await visit(small.id, { button: 'refund' }))).to.deep.equal([{ fetch: [small.id] }]);
      const { status, refunds } = await fetch(id);
      expect(status).to.equal('succeeded');
      expect(refunds.map(({ amount, order }) => [amount, order])).to.deep.equal([
        [500n * RUB, null],
        [500n * RUB, null],
      ]);
      expect(new Set(refunds.map((refund) => refund.id)).size).to.equal(2);
    });
  });

  describe('the page', () => {
    const htmlOf = async (id: string, query = {}) => (await visit(id, undefined, query)).html ?? expect.fail('no page');

    it('has a button for every event, and no script', async () => {
      const { order, id } = await started({ saveMethod: true });
      const page = await htmlOf(id);
      const buttons = [...page.matchAll(/<button name="button" value="([^"]+)"/g)].map(([, value]) => value);
      expect(buttons).to.include.members(['paid', 'late', 'twice', 'silent', 'wrong-sum', 'wrong-currency']);
      expect(buttons).to.include.members(['insufficient_funds', 'card_expired', 'bank_unavailable']);
      expect(
        [...page.matchAll(/<input type="radio" name="card" value="([^"]+)"/g)].map(([, value]) => value),
      ).to.deep.equal(['good', 'soft', 'hard', 'hang']);
      expect(page).to.contain('1\u00a0000,00\u00a0₽').and.to.contain(order.id);
      expect(page).not.to.match(/<script|style=|\son\w+=|https?:\/\/(?!gate\.example)/i);
    });

    it('uses the payer’s language or the chosen one', async () => {
      const russian = await started({ locale: 'ru' });
      const english = await started({ locale: 'en' });
      expect(await htmlOf(russian.id))
        .to.contain('<html lang="ru">')
        .and.to.contain('Платёж в песочнице');
      expect(await htmlOf(russian.id, { lang: 'en' })).to.contain('<html lang="en">');
      expect(await htmlOf(english.id)).to.contain('Sandbox payment');
      expect(await htmlOf(english.id, { lang: 'xx' })).to.contain('<html lang="en">');
    });

    it('has no pay buttons after the decision', async () => {
      const { id } = await started();
      await visit(id, { button: 'late' });
      expect(await htmlOf(id)).not.to.contain('<button');
      now += LATE_MS;
      const page = await htmlOf(id);
      expect(page).to.contain('value="refund"').and.to.contain('value="dispute"').and.not.to.contain('value="paid"');
    });

    it('explains how to enter a dispute, because no webhook reports one', async () => {
      const { order, id } = await started();
      await visit(id, { button: 'paid' });
      const reply = await visit(id, { button: 'dispute' });
      expect([reply.location, heard(reply)]).to.deep.equal([`./${id}`, []]);
      expect(await htmlOf(id)).to.contain(`tollgate payment dispute ${order.id} --open SANDBOX-1`);
      expect((await fetch(id)).status).to.equal('succeeded');
    });

    it('is unchanged in both languages, whatever happened to the payment', async () => {
      const pages: string[] = [];
      const look = async (what: string, id: string) => {
        for (const lang of ['en', 'ru']) {
          const { status, html } = await visit(id, undefined, { lang });
          pages.push(`===== ${what}, ${lang}: ${status}\n${html?.replaceAll(/\n+/g, '\n').trimEnd()}`);
        }
      };
      const begin = async (key: string, more = {}) => {
        const order = { id: `pay_${key}`, idempotenceKey: key, returnUrl: 'https://gate.example/wallet', ...more };
        return (await started(order)).id;
      };
      const one = await begin('one', { saveMethod: true, amount: 1_234_050_000n });
      await look('waits', one);
      await look('waits, and keeps no card', await begin('two'));
      await visit(one, { button: 'paid', card: 'soft' });
      await look('paid', one);
      await visit(one, { button: 'half' });
      await look('half given back', one);
      await visit(one, { button: 'dispute' });
      await look('disputed', one);
      await visit(one, { button: 'refund' });
      await look('given back', one);
      const declined = await begin('three');
      await visit(declined, { button: 'card_expired' });
      await look('declined', declined);
      await look('unknown', 'sb-none');
      expectRecorded(new URL('sandbox-pages.txt', import.meta.url), pages);
    });

    it('escapes all given texts', async () => {
      const description = '<img src=x onerror="alert(1)">&\'';
      const { id } = await started({ description, returnUrl: 'https://gate.example/?"><script>' });
      const page = await htmlOf(id);
      expect(page).not.to.match(/<img|<script/);
      expect(page).to.contain('&#60;img src=x onerror=&#34;alert(1)&#34;&#62;&#38;&#39;');
    });

    it('reports an unknown payment', async () => {
      const reply = await visit('sb-00000000000000000000000000000000');
      expect([reply.status, reply.html?.includes('There is no such payment.')]).to.deep.equal([404, true]);
      expect((await visit('order/pay_1', { button: 'paid' })).status).to.equal(404);
    });

    it('ignores an unknown button', async () => {
      const { id } = await started();
      for (const button of ['', 'constructor', 'toString', 'free-money'])
        expect(heard(await visit(id, { button, card: 'constructor' }))).to.deep.equal([]);
      expect((await fetch(id)).status).to.equal('pending');
    });
  });
});
