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
  /** Of those of these upstreams that are paused. */
  read(upstreams: readonly string[]): Promise<UpstreamPauses>;
  /** Without a pause the upstream is resumed. */
  set(upstream: string, pause: UpstreamPause | undefined): Promise<void>;
}

export function createPauseStore(settings: Pick<SettingStore, 'get' | 'set'>): PauseStore {
  return {
    async read(upstreams) {
      const texts = await Promise.all(upstreams.map((name) => settings.get(SETTING + name)));
      const pauses = upstreams.map((name, at): [string, string] => [name, texts[at] ?? '']);
      return new Map(pauses.filter(([, text]) => text !== '').map(([name, text]) => [name, JSON.parse(text)]));
    },
    set: (upstream, pause) => settings.set(SETTING + upstream, pause ? JSON.stringify(pause) : ''),
  };
}
