// Looks at the wallet before work is done for a call. This only spares work: the hold decides.
import { readWallet } from '../accounts/read-wallet.ts';
import { fault } from '../base/faults.ts';
import { BODY_BYTES_MAX } from '../http/body.ts';
import { type MemoryReservation, SMALL_BYTES } from '../http/memory-quota.ts';
import { measureStoreWait, type RequestState } from '../http/request-state.ts';
import { type CallPrice, insufficientFault, neverToppedFault } from '../ledger/refusals.ts';
import { needsFirstPayment } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import type { IdempotentCall } from './idempotency.ts';
import type { Services } from './services.ts';

/** Who pays for a request. */
interface Payer {
  readonly services: Pick<Services, 'store' | 'topups' | 'isReal'>;
  readonly state: RequestState;
  readonly holder: Pick<KeyHolder, 'account'>;
}

interface BodyAdmission extends Payer {
  readonly services: Payer['services'] & Pick<Services, 'recentBalances'>;
  readonly reservation: MemoryReservation;
  readonly idempotency: IdempotentCall | undefined;
}

/**
 * Called before the body is read, with its announced length: refuses a long one if too many wait for room, which costs
 * no look at the store, or if the wallet is empty; one that had money is not looked at again for a second. `least` is
 * the minimum price, if there is one. A repeat under an idempotency key is read: the first call may have emptied the wallet.
 */
export async function admitBody(admission: BodyAdmission, bytes: number | undefined, least?: CallPrice): Promise<void> {
  const { services, holder, reservation, idempotency } = admission;
  if (bytes !== undefined && bytes <= SMALL_BYTES) return;
  // A longer one is refused for its length.
  if (bytes !== undefined && bytes <= BODY_BYTES_MAX) reservation.check(bytes);
  if (idempotency && (await idempotency.isKnown())) return;
  if (services.recentBalances.has(holder.account)) return;
  await refuseEmpty(admission, least);
  services.recentBalances.note(holder.account);
}

/** Refuses a call if there is no money at all; `least` is the minimum price that the refusal names. */
export function refuseEmpty(payer: Payer, least?: CallPrice): Promise<void> {
  return refuseUnpayable(payer, 1n, least);
}

/** Refuses a call that the wallet cannot pay now. */
export function refuseTooExpensive(payer: Payer, price: CallPrice): Promise<void> {
  return refuseUnpayable(payer, price.amount, price);
}

async function refuseUnpayable({ services, state, holder }: Payer, needed: Micro, price?: CallPrice): Promise<void> {
  const { store, topups, isReal } = services;
  const wallet = await measureStoreWait(state, readWallet(store, holder.account));
  if (wallet.playMoney && isReal()) throw fault('play_money');
  const isNew = needsFirstPayment(wallet);
  if (!isNew && wallet.avail >= needed) return;
  // The ledger never sees the call, so the automatic top-up is told here.
  topups.reportRefusal(wallet.id);
  throw isNew ? neverToppedFault() : insufficientFault(wallet, price);
}
