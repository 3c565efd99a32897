// Books a single money operation from outside the service: a payment or correction entered by an operator.
import { getOperationId, type Operation, type Outcome } from '../money/decide.ts';
import { type Store, StoreError } from '../store/store.ts';

const ATTEMPTS_MAX = 5;
const PAUSE_MS = 200;

/**
 * Sends an operation until the store reports its outcome. The id of the operation makes sending it again idempotent, even
 * after an attempt whose outcome is unknown; if that one did it, the outcome is `done`.
 */
export async function bookOperation(store: Pick<Store, 'ledger'>, op: Operation): Promise<Outcome> {
  let unknown = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [outcome] = await store.ledger.apply([op]);
      return unknown ? await recognizeOwn(store, op, outcome as Outcome) : (outcome as Outcome);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      unknown ||= error.applied === 'unknown';
      if (attempt === ATTEMPTS_MAX) throw unknown ? toUnconfirmedError(op, error) : error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Of operations with one id, the entry has the time of the one that was applied. */
async function recognizeOwn(store: Pick<Store, 'ledger'>, op: Operation, outcome: Outcome): Promise<Outcome> {
  if (outcome.status !== 'exists') return outcome;
  const entry = await store.ledger.entry(getOperationId(op));
  return entry?.at === op.at ? { ...outcome, status: 'done' } : outcome;
}

function toUnconfirmedError(op: Operation, { message, cause }: StoreError): StoreError {
  const advice = `It may have been booked: check "tollgate ledger list ${op.wallet}" before repeating it.`;
  return new StoreError(`${message}. ${advice}`, 'unknown', cause);
}
