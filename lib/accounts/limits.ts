// Validates the limits of a key or an account.
import { readNetworks } from '../base/network.ts';
import { OperatorError } from '../base/operator-error.ts';
import { SMART_NAMES } from '../base/smart-tiers.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { AMOUNT_MAX, formatRub } from '../money/money.ts';
import type { RequestLimits } from '../money/request-limits.ts';

/** Without the time zone, which is the account's. */
export type RequestedLimits = Omit<KeyLimits, 'zone'>;

/** More models than any catalog has. */
const MODELS_MAX = 200;
const MODEL_LENGTH_MAX = 100;

/** Throws `OperatorError` for limits that make no sense. */
export function checkLimits({ budget, expiresAt, models, endUsers, requests }: RequestedLimits, now: number): void {
  if (requests) checkRequestLimits(requests);
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

/** A model that is listed twice, such as by its id and an alias, is listed once. */
export function dropRepeats<Limits extends Partial<RequestedLimits>>(limits: Limits): Limits {
  return limits.models ? { ...limits, models: [...new Set(limits.models)] } : limits;
}

export const PER_MINUTE_MAX = 1_000_000;
export const AT_ONCE_MAX = 100_000;
export const WAIT_SECONDS_MAX = 60;
const ADDRESSES_MAX = 100;

/** Throws `OperatorError` for limits that make no sense. */
export function checkRequestLimits({ perMinute, atOnce, waitSeconds, addresses }: RequestLimits): void {
  const isWhole = (value: number | undefined, most: number) =>
    value === undefined || (Number.isInteger(value) && value >= 1 && value <= most);
  if (!isWhole(perMinute, PER_MINUTE_MAX)) {
    throw new OperatorError(`Requests a minute must be a whole number from 1 to ${PER_MINUTE_MAX}.`);
  }
  if (!isWhole(atOnce, AT_ONCE_MAX)) {
    throw new OperatorError(`Calls at once must be a whole number from 1 to ${AT_ONCE_MAX}.`);
  }
  if (!isWhole(waitSeconds, WAIT_SECONDS_MAX)) {
    throw new OperatorError(`Calls may wait for 1 to ${WAIT_SECONDS_MAX} whole seconds.`);
  }
  if (waitSeconds !== undefined && atOnce === undefined) {
    throw new OperatorError('Calls wait for their turn only where calls at once are limited.');
  }
  if (addresses === undefined) return;
  if (addresses.length === 0 || addresses.length > ADDRESSES_MAX) {
    throw new OperatorError(`List 1 to ${ADDRESSES_MAX} addresses or networks.`);
  }
  const wrong = addresses.find((address) => readNetworks([address]) === undefined);
  if (wrong !== undefined) {
    throw new OperatorError(`Not an address or a network such as 10.0.0.0/8: ${JSON.stringify(wrong)}.`);
  }
}
