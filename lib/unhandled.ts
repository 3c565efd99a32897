// Errors that nobody has handled: a plugin's fail its call, and the rest goes on; any other ends the process.
import type { Log } from './http/log.ts';
import { findStray, type PluginName } from './plugin/stray.ts';

export interface Unhandled {
  readonly log: Pick<Log, 'error' | 'fatal'>;
  /** A plugin has left one. */
  readonly onPlugin: (whose: PluginName) => void;
  /** It was our own mistake: the process is in no known state. */
  readonly onOther: (error: unknown) => void;
}

export function handleUnhandled({ log, onPlugin, onOther }: Unhandled): void {
  const handle = (err: unknown) => {
    const run = findStray(err);
    if (run) {
      const { title, name } = run;
      log.error({ alert: 'plugin', [title === 'Plugin' ? 'plugin' : 'upstream']: name, err }, STRAY);
      run.fail(err);
      onPlugin(run);
    } else {
      log.fatal({ err }, 'an error that nobody has handled; stopping');
      onOther(err);
    }
  };
  process.on('unhandledRejection', handle);
  process.on('uncaughtException', handle);
}

const STRAY = 'a plugin has left an error unhandled; its call fails if it still runs';
