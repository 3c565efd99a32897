// Play money, which a sandbox or a shop under test takes: no wallet gets it that pays for upstreams which cost real money.
// Processes of one store may differ in their catalogs, so the store remembers that one of them has such upstreams.

import type { Payment } from '../money/payment.ts';
import type { PaymentState } from '../plugin/payment-contract.ts';
import type { SettingStore } from '../store/ports/settings.ts';

const COSTLY = 'costly-upstream';

export function noteCost(settings: Pick<SettingStore, 'set'>, upstream: string): Promise<void> {
  return settings.set(COSTLY, upstream);
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
