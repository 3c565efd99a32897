// Opens what a command works on, runs it, prints its answer and closes everything.

import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config.ts';
import type { Answer } from '../manage/answer.ts';
import type { Session } from '../manage/session.ts';
import type { OwnOptions } from '../store/open.ts';
import type { Store, StoreOptions } from '../store/store.ts';
import { print, warn } from './output.ts';

/**
 * The action of a command on the store, which must exist unless `opening` says otherwise; the answer names the store.
 * Modules are loaded late, so that usage errors and help are immediate.
 */
export function onStore<Args extends readonly unknown[]>(
  work: (session: Session, ...args: Args) => Promise<Answer>,
  opening: StoreOptions & Pick<OwnOptions, 'sealed'> = { existing: true },
) {
  return onCommand(async (command, config, ...args: Args) => {
    const { openOwnStore } = await import('../store/open.ts');
    const store = await openOwnStore(config, { inProcess: true, ...opening });
    return answerFrom(store, config, async (session) => {
      const answer = await work(session, ...args);
      await recordOrWarn(session, command, answer);
      return answer;
    });
  });
}

/** Never throws: the change is already made, and a new key is in the answer only. */
async function recordOrWarn(session: Session, command: Command, answer: Answer): Promise<void> {
  const { recordCommand } = await import('./record-command.ts');
  try {
    await recordCommand(session, command, answer);
  } catch (error) {
    warn(`the change is made, but is not in the audit log: ${error instanceof Error ? error.message : error}`);
  }
}

const DATABASE_URL = /^(?:sqlite:|mongodb(?:\+srv)?:)/i;

/** The same for a command that reads the store or, if a file is named first, a backup of one. */
export function onStoreOrBackup(work: (session: Session) => Promise<Answer>) {
  const read = onStore(work, { readOnly: true });
  const readBackup = onConfig(async (config, file: string) => {
    if (DATABASE_URL.test(file))
      throw new InvalidArgumentError('give the file of a backup; DATABASE_URL names a store');
    const { openStore } = await import('../store/open.ts');
    const databaseUrl = `sqlite:${file}`;
    const store = await openStore(databaseUrl, { inProcess: true, readOnly: true });
    return answerFrom(store, { ...config, databaseUrl }, work);
  });
  return async function act(this: Command, file: string | undefined): Promise<void> {
    await (file === undefined ? read.call(this) : readBackup.call(this, file));
  };
}

async function answerFrom(store: Store, config: Config, work: (session: Session) => Promise<Answer>): Promise<Answer> {
  const { describeStore } = await import('../store/open.ts');
  try {
    return { ...(await work({ store, config })), store: describeStore(config.databaseUrl) };
  } finally {
    // The result is durable: a store that does not close cleanly must not turn it into a failure.
    await store.close().catch(() => {});
  }
}

/** How read-only commands may name an account. */
export const ID_OR_NAME = 'its id, or its name if no other has it';

/** The action of a command that needs no store. */
export function onConfig<Args extends readonly unknown[]>(work: (config: Config, ...args: Args) => Promise<Answer>) {
  return onCommand((_, config, ...args: Args) => work(config, ...args));
}

function onCommand<Args extends readonly unknown[]>(
  work: (command: Command, config: Config, ...args: Args) => Promise<Answer>,
) {
  return async function act(this: Command, ...args: [...Args, ...unknown[]]): Promise<void> {
    const { readConfig } = await import('../config.ts');
    const answer = await work(this, readConfig(process.env), ...(args as unknown as Args));
    print(answer, { json: this.optsWithGlobals().json === true });
  };
}
