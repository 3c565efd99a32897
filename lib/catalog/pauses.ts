// Upstreams that operators have paused: kept in the store, so that every gateway leaves them out, also after a restart.
import type { SettingStore } from '../store/ports/settings.ts';

export interface UpstreamPause {
  /** The id of the user. */
  readonly by: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** By the name of the upstream. */
export type UpstreamPauses = ReadonlyMap<string, UpstreamPause>;

const SETTING = 'catalog/paused-upstreams';

export interface PauseStore {
  read(): Promise<UpstreamPauses>;
  /** Without a pause the upstream is resumed. */
  set(upstream: string, pause: UpstreamPause | undefined): Promise<void>;
}

export function createPauseStore(settings: Pick<SettingStore, 'get' | 'set'>): PauseStore {
  const read = async () => {
    const pauses: Readonly<Record<string, UpstreamPause>> = JSON.parse((await settings.get(SETTING)) ?? '{}');
    return new Map(Object.entries(pauses));
  };
  return {
    read,
    async set(upstream, pause) {
      const pauses = await read();
      if (pause) pauses.set(upstream, pause);
      else pauses.delete(upstream);
      await settings.set(SETTING, JSON.stringify(Object.fromEntries(pauses)));
    },
  };
}
