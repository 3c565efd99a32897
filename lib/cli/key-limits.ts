// The options that limit a key, and how its limits are shown.
import { type Command, InvalidArgumentError } from 'commander';
import type { WishedLimits } from '../accounts/limits.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { readTime } from './arguments.ts';
import { toTime } from './output.ts';

export interface LimitOptions {
  readonly expires?: number | typeof LIFTED;
  readonly models?: readonly string[] | typeof LIFTED;
}

/** A limit that is taken away; the library of options turns a null into an empty text. */
const LIFTED = Symbol('lifted');

/** With `lifts` the words that take a limit away are read too. */
export function addLimitOptions(command: Command, { lifts }: { readonly lifts: boolean }): Command {
  const or = (word: string) => (lifts ? `, or "${word}"` : '');
  const orLifted =
    <T>(word: string, read: (text: string) => T) =>
    (text: string) =>
      lifts && text === word ? LIFTED : read(text);
  return command
    .option('--expires <time>', `until when it lives, such as 2026-12-31${or('never')}`, orLifted('never', readTime))
    .option('--models <ids>', `the models it may be used for, such as a,b${or('all')}`, orLifted('all', readModels));
}

function readModels(text: string): readonly string[] {
  const models = text.split(',').map((id) => id.trim());
  if (models.includes('')) throw new InvalidArgumentError('Give ids of models with commas between, such as a,b.');
  return models;
}

/** What was asked for; the rest stays. */
export function limitsOf({ expires, models }: LimitOptions): Partial<WishedLimits> {
  return {
    ...(expires !== undefined && { expiresAt: liftedOr(expires) }),
    ...(models !== undefined && { models: liftedOr(models) }),
  };
}

function liftedOr<T>(value: T | typeof LIFTED): T | null {
  return value === LIFTED ? null : (value as T);
}

export function limitsJson({ expiresAt, models }: KeyLimits) {
  return { expires_at: toTime(expiresAt), models };
}

/** One cell of a table. */
export function limitsText({ expiresAt, models }: KeyLimits): string {
  const parts = [
    expiresAt !== null && `until ${toTime(expiresAt)}`,
    models !== null && `only ${models.join(', ')}`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'none' : parts.join('; ');
}
