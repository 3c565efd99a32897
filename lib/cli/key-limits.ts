// The options that limit a key, and the output of limits.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RequestedLimits } from '../accounts/limits.ts';
import type { Config } from '../config.ts';
import { type BudgetSum, getSpent } from '../money/budget.ts';
import { type KeyLimits, RESETS, type Reset } from '../money/key-limits.ts';
import { type Micro, toRub } from '../money/money.ts';
import { periodAt } from '../money/period.ts';
import type { KeyRow } from '../store/ports/keys.ts';
import { readPayment, readTime } from './arguments.ts';
import { formatMoney, toTime } from './output.ts';
import { REMOVED } from './removed.ts';
import {
  addRequestLimitOptions,
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

/** With `canRemove`, the options also accept the word that removes the limit. */
export function addLimitOptions(command: Command, { canRemove }: { readonly canRemove: boolean }): Command {
  const or = (word: string) => (canRemove ? `, or "${word}"` : '');
  const orRemoved =
    <T>(word: string, read: (text: string) => T) =>
    (text: string) =>
      canRemove && text === word ? REMOVED : read(text);
  return addRequestLimitOptions(command, { canRemove })
    .option('--budget <rub>', `the most it may spend between two resets${or('none')}`, orRemoved('none', readPayment))
    .addOption(new Option('--reset <period>', 'when its budget resets, in the time zone of its owner').choices(RESETS))
    .option('--expires <time>', `when it expires, such as 2026-12-31${or('never')}`, orRemoved('never', readTime))
    .option('--models <ids>', `the models it may be used for, such as a,b${or('all')}`, orRemoved('all', readModels))
    .option(
      '--user-budget <rub>',
      `the most that each end user, whom the calls name, may spend between two resets${or('none')}`,
      orRemoved('none', readPayment),
    )
    .addOption(new Option('--user-reset <period>', 'when the budgets of end users reset').choices(RESETS));
}

function readModels(text: string): readonly string[] {
  const models = text.split(',').map((id) => id.trim());
  if (models.includes('')) throw new InvalidArgumentError('Give model ids separated by commas, such as a,b.');
  return models;
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
    throw new InvalidArgumentError('--user-reset needs --user-budget.');
  }
  const cap = liftToNull(userBudget);
  return { endUsers: cap === null ? undefined : { cap, reset: userReset ?? 'none' } };
}

/**
 * Warns on stderr about models that the catalog lacks. They are not refused: the gateways may use another catalog, or the
 * models may be added later. Never throws, because the change is already made.
 */
export async function warnOfUnknown(config: Config, { models }: LimitOptions): Promise<void> {
  const wished = models === undefined ? null : liftToNull(models);
  if (wished === null) return;
  const { readModelNames } = await import('../catalog/read.ts');
  const { readStoredLayer } = await import('../catalog/stored-layer.ts');
  try {
    const known = readModelNames(config, await readStoredLayer(config));
    const unknown = wished.filter((name) => !known.has(name));
    if (unknown.length > 0) warn(`there is no such model in CATALOG_DIR: ${unknown.join(', ')}`);
  } catch (error) {
    warn(`the models were not compared with the catalog: ${error instanceof Error ? error.message : error}`);
  }
}

function warn(text: string): void {
  process.stderr.write(`tollgate: warning: ${text}\n`);
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
  return getSpent(sum, periodAt(Date.now(), limits).start);
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
