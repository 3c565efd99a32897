// Since when the calls of a store record their attempts at upstreams: from the first start of a version that does.
import type { SettingStore } from '../store/ports/settings.ts';

const SETTING = 'attempts.since';

/** Notes the time of the first start; later ones change nothing. */
export async function noteAttemptsSince(settings: Pick<SettingStore, 'get' | 'set'>, now: number): Promise<void> {
  if ((await settings.get(SETTING)) === undefined) await settings.set(SETTING, new Date(now).toISOString());
}

/** Calls that started from then on have attempts; never in a store that no such gateway has used. */
export async function readAttemptsSince(settings: Pick<SettingStore, 'get'>): Promise<number> {
  const noted = Date.parse((await settings.get(SETTING)) ?? '');
  return Number.isNaN(noted) ? Number.POSITIVE_INFINITY : noted;
}
