// Play money, which a sandbox or a shop under test takes: no wallet gets it that pays for upstreams which cost real money.
// Processes of one store may differ in their catalogs, so the store remembers that one of them has such upstreams.

import type { Payment } from '../money/payment.ts';
import type { PaymentState } from '../plugin/payment-contract.ts';
import type { SettingStore } from '../store/ports/settings.ts';
import type { Store } from '../store/store.ts';

const COSTLY = 'costly-upstream';
const ROWS_PER_PAGE = 500;

/** Resolves to the wallets that were credited play money before, which buys something real from now on. */
export async function noteCost(
  { settings, payments }: Pick<Store, 'settings' | 'payments'>,
  upstream: string,
): Promise<readonly string[]> {
  const isFirst = (await costOf(settings)) === undefined;
  const wallets = isFirst ? await walletsOfPlayMoney(payments) : [];
  await settings.set(COSTLY, upstream);
  return wallets;
}

async function walletsOfPlayMoney(payments: Pick<Store['payments'], 'page'>): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let after = ''; ; ) {
    const page = await payments.page('payments', { after, limit: ROWS_PER_PAGE });
    for (const payment of page) if (payment.credited > 0n && isPlayMoney(payment)) found.add(payment.wallet);
    const last = page.at(-1);
    if (!last || page.length < ROWS_PER_PAGE) return [...found];
    after = last.id;
  }
}

/** What makes play money worth something in this store, in words; undefined: nothing does. */
export async function costOf(settings: Pick<SettingStore, 'get'>): Promise<string | undefined> {
  const upstream = await settings.get(COSTLY);
  return !upstream ? undefined : `wallets here pay for the upstream ${upstream}, which costs real money`;
}

/** By its order, or by what its provider said of it. */
export function isPlayMoney({ test, state }: Pick<Payment, 'test' | 'state'>): boolean {
  return test || (state !== null && (JSON.parse(state) as Partial<PaymentState>).test === true);
}
