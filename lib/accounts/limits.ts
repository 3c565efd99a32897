// Validates the limits of a key.
import { OperatorError } from '../base/operator-error.ts';
import { SMART_NAMES } from '../base/smart-tiers.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { AMOUNT_MAX, formatRub } from '../money/money.ts';

/** Without the time zone, which is the account's. */
export type RequestedLimits = Omit<KeyLimits, 'zone'>;

/** More models than any catalog has. */
const MODELS_MAX = 200;
const MODEL_LENGTH_MAX = 100;

/** Throws `OperatorError` for limits that make no sense. */
export function checkLimits({ budget, expiresAt, models, endUsers }: RequestedLimits, now: number): void {
  if (endUsers && (endUsers.cap <= 0n || endUsers.cap > AMOUNT_MAX)) {
    throw new OperatorError(`The budget of an end user must be above zero and at most ${formatRub(AMOUNT_MAX)} RUB.`);
  }
  if (budget !== null && (budget <= 0n || budget > AMOUNT_MAX)) {
    throw new OperatorError(`A budget must be above zero and at most ${formatRub(AMOUNT_MAX)} RUB.`);
  }
  if (expiresAt !== null && expiresAt <= now) throw new OperatorError('The expiry date is in the past.');
  if (models === null) return;
  if (models.length === 0) throw new OperatorError('The list of models is empty, so the key could not be used at all.');
  if (models.length > MODELS_MAX) throw new OperatorError(`The list has more than ${MODELS_MAX} models.`);
  const wrong = models.find((name) => name === '' || name.length > MODEL_LENGTH_MAX || /[\p{Cc}\s]/u.test(name));
  const routed = models.find((name) => SMART_NAMES.has(name));
  if (routed !== undefined) {
    throw new OperatorError(`A call for ${routed} picks one of the key's models: list those models instead.`);
  }
  if (wrong !== undefined) throw new OperatorError(`Not a valid model id: ${JSON.stringify(wrong)}.`);
}
