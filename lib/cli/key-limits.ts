// The options that limit a key, and the warning about models that the catalog lacks.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../config.ts';
import type { LimitOptions } from '../manage/actions/key-limits.ts';
import type { Answer } from '../manage/answer.ts';
import { readPayment, readTime } from '../manage/arguments.ts';
import { REMOVED } from '../manage/removed.ts';
import type { Session } from '../manage/session.ts';
import { RESETS } from '../money/key-limits.ts';
import { warn } from './output.ts';
import { addRequestLimitOptions } from './request-limits.ts';

/** With `canRemove`, the options also accept the word that removes the limit. */
export function addLimitOptions(command: Command, { canRemove }: { readonly canRemove: boolean }): Command {
  const or = (word: string) => (canRemove ? `, or "${word}"` : '');
  const orRemoved =
    <T>(word: string, read: (text: string) => T) =>
    (text: string) =>
      canRemove && text === word ? REMOVED : read(text);
  return addRequestLimitOptions(command, { canRemove })
    .option('--budget <rub>', `the most it may spend between two resets${or('none')}`, orRemoved('none', readPayment))
    .addOption(
      new Option('--reset <period>', 'when its budget resets, in the time zone of the account').choices(RESETS),
    )
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

/** The action, which then warns of unknown models. */
export function warnAfter<Options extends LimitOptions>(
  act: (session: Session, id: string, options: Options) => Promise<Answer>,
) {
  return async (session: Session, id: string, options: Options): Promise<Answer> => {
    const answer = await act(session, id, options);
    await warnOfUnknown(session.config, options);
    return answer;
  };
}

/**
 * Warns on stderr about models that the catalog lacks. They are not refused: the gateways may use another catalog, or the
 * models may be added later. Never throws, because the change is already made.
 */
async function warnOfUnknown(config: Config, { models }: LimitOptions): Promise<void> {
  if (models === undefined || models === REMOVED) return;
  const { readModelNames } = await import('../catalog/read.ts');
  const { readStoredLayer } = await import('../catalog/stored-layer.ts');
  try {
    const known = readModelNames(config, await readStoredLayer(config));
    const unknown = models.filter((name) => !known.has(name));
    if (unknown.length > 0) warn(`there is no such model in CATALOG_DIR: ${unknown.join(', ')}`);
  } catch (error) {
    warn(`the models were not compared with the catalog: ${error instanceof Error ? error.message : error}`);
  }
}
