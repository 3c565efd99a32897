// The limits of a key: which of them change, and how they are shown.

import type { RequestedLimits } from '../../accounts/limits.ts';
import { InvalidInputError } from '../../base/operator-error.ts';
import { type BudgetSum, getSpent } from '../../money/budget.ts';
import type { KeyLimits, Reset } from '../../money/key-limits.ts';
import { type Micro, toRub } from '../../money/money.ts';
import { findPeriod } from '../../money/period.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import { formatMoney, toTime } from '../answer.ts';
import { REMOVED } from '../removed.ts';
import {
  changeRequestLimits,
  describeRequestLimits,
  hasRequestLimits,
  type RequestLimitOptions,
  requestLimitsJson,
} from './request-limits.ts';

export interface LimitOptions extends RequestLimitOptions {
  readonly budget?: Micro | typeof REMOVED;
  readonly reset?: Reset;
  readonly expires?: number | typeof REMOVED;
  readonly models?: readonly string[] | typeof REMOVED;
  readonly userBudget?: Micro | typeof REMOVED;
  readonly userReset?: Reset;
}

/** The requested changes; other limits stay as they are. */
export function readLimitChanges(options: LimitOptions, before?: KeyLimits): Partial<RequestedLimits> {
  const { budget, reset, expires, models } = options;
  return {
    ...(budget !== undefined && { budget: liftToNull(budget) }),
    ...(reset !== undefined && { reset }),
    ...(expires !== undefined && { expiresAt: liftToNull(expires) }),
    ...(models !== undefined && { models: liftToNull(models) }),
    ...readUserLimit(options),
    ...(hasRequestLimits(options) && { requests: changeRequestLimits(before?.requests, options) }),
  };
}

function readUserLimit({ userBudget, userReset }: LimitOptions): Pick<Partial<RequestedLimits>, 'endUsers'> {
  if (userBudget === undefined) {
    if (userReset === undefined) return {};
    throw new InvalidInputError('--user-reset needs --user-budget.');
  }
  const cap = liftToNull(userBudget);
  return { endUsers: cap === null ? undefined : { cap, reset: userReset ?? 'none' } };
}

function liftToNull<T>(value: T | typeof REMOVED): T | null {
  return value === REMOVED ? null : (value as T);
}

export function limitsJson({ budget, reset, zone, expiresAt, models, endUsers, requests }: KeyLimits) {
  const money = budget === null ? null : { rub: toRub(budget), reset, time_zone: zone };
  const users = endUsers ? { rub: toRub(endUsers.cap), reset: endUsers.reset, time_zone: zone } : null;
  return {
    budget: money,
    expires_at: toTime(expiresAt),
    models,
    user_budget: users,
    requests: requestLimitsJson(requests),
  };
}

/** What a key has spent of its budget in the current period. */
export function computeSpent({ limits }: KeyRow, sum: BudgetSum | undefined): Micro {
  return getSpent(sum, findPeriod(Date.now(), limits).start);
}

/** The limits in one table cell. */
export function formatLimits(limits: KeyLimits, spent?: Micro): string {
  const { budget, reset, expiresAt, models, endUsers, requests } = limits;
  const of = spent === undefined ? '' : `${formatMoney(spent)} of `;
  const parts = [
    budget !== null && `${of}${formatBudget(budget, reset)}`,
    expiresAt !== null && `until ${toTime(expiresAt)}`,
    models !== null && `only ${models.join(', ')}`,
    endUsers !== undefined && `${formatBudget(endUsers.cap, endUsers.reset)} for each end user`,
    ...describeRequestLimits(requests),
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'none' : parts.join('; ');
}

function formatBudget(most: Micro, reset: Reset): string {
  return `${formatMoney(most)}${reset === 'none' ? '' : ` a ${reset}`}`;
}
