// Payment webhooks: how many are kept, and which orders an unknown one may belong to.
import { expect } from 'chai';
import { NEVER_STARTED } from '../../../lib/money/payment.ts';
import type { Payment } from '../../../lib/money/payment-rules.ts';
import { DISCARDED_WEBHOOKS_MAX, WEBHOOKS_REMOVED_MAX } from '../../../lib/store/ports/payments.ts';
import type { Store } from '../../../lib/store/store.ts';
import { AT, newAccount, newId, type StoreContext } from './context.ts';
import { newOrder, newWebhook } from './payments.ts';

async function removeWebhooks({ payments }: Store): Promise<void> {
  while ((await payments.removeOldWebhooks(Number.MAX_SAFE_INTEGER)) > 0);
}

export function webhookContract(context: StoreContext): void {
  it('without effect replace the oldest of their kind, even from two processes', async function () {
    this.timeout(60_000);
    const { store } = context;
    const other = await context.other();
    await removeWebhooks(store);
    const idOf = (at: number) => `ntc_${String(at).padStart(24, '0')}`;
    const vain = (at: number) => newWebhook({ id: idOf(at), verdict: at % 2 === 0 ? 'rejected' : 'foreign' });
    const old = Array.from({ length: DISCARDED_WEBHOOKS_MAX + 250 }, (_, at) => vain(at));
    await store.payments.put('notices', old);
    const ours = newWebhook({ id: idOf(0).replace('ntc_0', 'ntc_!') });
    await store.payments.addWebhook(ours);
    const next = DISCARDED_WEBHOOKS_MAX + 250;
    for (let at = next; at < next + 20; at += 1) await (at % 2 ? store : other).payments.addWebhook(vain(at));
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 ? store : other).payments.addWebhook(vain(next + 20 + at))),
    );
    await store.payments.addWebhook(vain(next + 40));
    const found = await store.payments.webhooks({ limit: 5000 });
    expect(found.length).to.equal(DISCARDED_WEBHOOKS_MAX + 1);
    expect([found[0]?.id, found.at(-1)]).to.deep.equal([idOf(next + 40), ours]);
    expect(await store.payments.webhooks({ limit: 10, isDiscarded: false })).to.deep.equal([ours]);
    expect(await store.payments.webhooks({ limit: 10, isDiscarded: false, before: ours.id })).to.deep.equal([]);
    await removeWebhooks(store);
  });

  it('are limited in number, and removed a few at a time', async () => {
    const { payments } = context.store;
    await removeWebhooks(context.store);
    const ids = Array.from({ length: WEBHOOKS_REMOVED_MAX + 20 }, (_, at) => `ntc_${String(at).padStart(9, '0')}`);
    await payments.put(
      'notices',
      ids.map((id) => newWebhook({ id, verdict: 'done' })),
    );
    const removed = [await payments.removeOldWebhooks(AT, 5), await payments.removeOldWebhooks(AT, 5)];
    expect([...removed, await payments.removeOldWebhooks(AT, 5)]).to.deep.equal([WEBHOOKS_REMOVED_MAX, 15, 0]);
    expect((await payments.webhooks({ limit: 10 })).map(({ id }) => id)).to.deep.equal(ids.slice(-5).reverse());
    expect([await payments.removeOldWebhooks(AT + 1), await payments.webhooks({ limit: 10 })]).to.deep.equal([5, []]);
  });

  it('can belong only to certain orders without a provider id', async () => {
    const { payments } = context.store;
    const wallet = await newAccount(context.store);
    const provider = newId('p');
    const has = (since = AT) => payments.hasUnknownRefs(provider, since);
    const order = newOrder(wallet, { provider, createdAt: AT });
    await payments.create({ ...newOrder(wallet), provider: newId('p') });
    expect(await has()).to.equal(false);
    await payments.create(order);
    expect([await has(), await has(AT + 1)]).to.deep.equal([true, true]);
    const made = (await payments.get(order.id)) as Payment;
    const given = { ...made, phase: 'failed', owner: null, lease: null, dueAt: null } as const;
    for (const [row, since, expected] of [
      [{ ...given, reason: NEVER_STARTED }, AT, true],
      [{ ...given, reason: NEVER_STARTED }, AT + 1, false],
      [{ ...given, reason: 'refused' }, AT, false],
      [{ ...made, ref: newId('ref') }, AT, false],
    ] as const) {
      await payments.put('payments', [row]);
      expect(await has(since), `${row.phase} ${row.reason} ${since - AT}`).to.equal(expected);
    }
  });
}
