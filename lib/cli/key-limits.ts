// The options that limit a key, and how its limits are shown.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { WishedLimits } from '../accounts/limits.ts';
import type { Config } from '../config.ts';
import { getSpent, type KeyBudget } from '../money/key-budget.ts';
import { type KeyLimits, RESETS, type Reset } from '../money/key-limits.ts';
import { type Micro, toRub } from '../money/money.ts';
import { periodAt } from '../money/period.ts';
import type { KeyRow } from '../store/ports/keys.ts';
import { readPayment, readTime } from './arguments.ts';
import { formatMoney, toTime } from './output.ts';

export interface LimitOptions {
  readonly budget?: Micro | typeof LIFTED;
  readonly reset?: Reset;
  readonly expires?: number | typeof LIFTED;
  readonly models?: readonly string[] | typeof LIFTED;
}

/** A removed limit; the option library turns a null into an empty text. */
const LIFTED = Symbol('lifted');

/** With `lifts`, the words that remove a limit are read too. */
export function addLimitOptions(command: Command, { lifts }: { readonly lifts: boolean }): Command {
  const or = (word: string) => (lifts ? `, or "${word}"` : '');
  const orLifted =
    <T>(word: string, read: (text: string) => T) =>
    (text: string) =>
      lifts && text === word ? LIFTED : read(text);
  return command
    .option('--budget <rub>', `the most it may spend between two resets${or('none')}`, orLifted('none', readPayment))
    .addOption(new Option('--reset <period>', 'when its budget resets, in the time zone of its owner').choices(RESETS))
    .option('--expires <time>', `when it expires, such as 2026-12-31${or('never')}`, orLifted('never', readTime))
    .option('--models <ids>', `the models it may be used for, such as a,b${or('all')}`, orLifted('all', readModels));
}

function readModels(text: string): readonly string[] {
  const models = text.split(',').map((id) => id.trim());
  if (models.includes('')) throw new InvalidArgumentError('Give model ids separated by commas, such as a,b.');
  return models;
}

/** The requested changes; the rest stays. */
export function limitsOf({ budget, reset, expires, models }: LimitOptions): Partial<WishedLimits> {
  return {
    ...(budget !== undefined && { budget: liftedOr(budget) }),
    ...(reset !== undefined && { reset }),
    ...(expires !== undefined && { expiresAt: liftedOr(expires) }),
    ...(models !== undefined && { models: liftedOr(models) }),
  };
}

/**
 * Tells on stderr of models that the catalog lacks: the key could not be used for them. Not refused: another catalog
 * than this machine's may be in force, or the models may be added later. Throws nothing, since the change is made.
 */
export async function warnOfUnknown(config: Config, { models }: LimitOptions): Promise<void> {
  const wished = models === undefined ? null : liftedOr(models);
  if (wished === null) return;
  const { readModelNames } = await import('../catalog/live.ts');
  try {
    const known = readModelNames(config);
    const unknown = wished.filter((name) => !known.has(name));
    if (unknown.length > 0) warn(`there is no such model in CATALOG_DIR: ${unknown.join(', ')}`);
  } catch (error) {
    warn(`the models were not compared with the catalog: ${error instanceof Error ? error.message : error}`);
  }
}

function warn(text: string): void {
  process.stderr.write(`tollgate: warning: ${text}\n`);
}

function liftedOr<T>(value: T | typeof LIFTED): T | null {
  return value === LIFTED ? null : (value as T);
}

export function limitsJson({ budget, reset, zone, expiresAt, models }: KeyLimits) {
  const money = budget === null ? null : { rub: toRub(budget), reset, time_zone: zone };
  return { budget: money, expires_at: toTime(expiresAt), models };
}

/** What a key with a budget has spent in its current period. */
export function spentOf({ limits }: KeyRow, sum: KeyBudget | undefined): Micro {
  return getSpent(sum, periodAt(Date.now(), limits).start);
}

/** One cell of a table. */
export function limitsText({ budget, reset, expiresAt, models }: KeyLimits, spent?: Micro): string {
  const of = spent === undefined ? '' : `${formatMoney(spent)} of `;
  const parts = [
    budget !== null && `${of}${formatMoney(budget)}${reset === 'none' ? '' : ` a ${reset}`}`,
    expiresAt !== null && `until ${toTime(expiresAt)}`,
    models !== null && `only ${models.join(', ')}`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'none' : parts.join('; ');
}
