// Opens what a command works on, lets it work, prints its answer and closes again.
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import { type Answer, print } from './output.ts';

/** What a command works with. */
export interface Session {
  readonly store: Store;
  readonly config: Config;
}

/** The action of a command on the store; modules are loaded only now, so that usage errors and help come at once. */
export function onStore<Args extends readonly unknown[]>(work: (session: Session, ...args: Args) => Promise<Answer>) {
  return onConfig(async (config, ...args: Args) => {
    const { openStore } = await import('../store/open.ts');
    const store = await openStore(config.databaseUrl);
    try {
      return await work({ store, config }, ...args);
    } finally {
      // The answer is durable by now: a store that does not close cleanly must not turn it into a failure.
      await store.close().catch(() => {});
    }
  });
}

/** The action of a command that needs no store. */
export function onConfig<Args extends readonly unknown[]>(work: (config: Config, ...args: Args) => Promise<Answer>) {
  return async function act(this: Command, ...args: [...Args, ...unknown[]]): Promise<void> {
    const { readConfig } = await import('../config.ts');
    const answer = await work(readConfig(process.env), ...(args as unknown as Args));
    print(answer, { json: this.optsWithGlobals().json === true });
  };
}
