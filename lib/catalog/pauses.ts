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

/** Each has a setting of its own: operators may pause several at the same moment, at different gateways. */
const SETTING = 'catalog/paused-upstream/';

export interface PauseStore {
  read(): Promise<UpstreamPauses>;
  /** Without a pause the upstream is resumed. */
  set(upstream: string, pause: UpstreamPause | undefined): Promise<void>;
}

export function createPauseStore(settings: Pick<SettingStore, 'list' | 'set'>): PauseStore {
  return {
    async read() {
      const paused = (await settings.list(SETTING)).filter(({ value }) => value !== '');
      return new Map(paused.map(({ name, value }) => [name.slice(SETTING.length), JSON.parse(value)]));
    },
    set: (upstream, pause) => settings.set(SETTING + upstream, pause ? JSON.stringify(pause) : ''),
  };
}
