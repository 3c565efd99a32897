// Applies one money operation from outside the service: a payment or a correction that an operator enters.
import type { Operation, Outcome } from '../money/decide.ts';
import { type Store, StoreError } from '../store/store.ts';

const ATTEMPTS_MAX = 5;
const PAUSE_MS = 200;

/**
 * Sends an operation until the store says what became of it. Its id makes a repeat harmless, also after an attempt
 * whose fate is unknown.
 */
export async function book(store: Pick<Store, 'ledger'>, op: Operation): Promise<Outcome> {
  const submission = { op, tried: false, abandoned: false };
  let unknown = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [outcome] = await store.ledger.apply([submission]);
      if (!outcome) throw new Error('the store gave no answer to an operation');
      return outcome;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      unknown ||= error.applied === 'unknown';
      if (attempt === ATTEMPTS_MAX) throw unknown ? unconfirmed(op, error) : error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function unconfirmed(op: Operation, { message, cause }: StoreError): StoreError {
  const advice = `It may have been booked: see "tollgate ledger list ${op.wallet}" before you repeat it.`;
  return new StoreError(`${message}. ${advice}`, 'unknown', cause);
}
