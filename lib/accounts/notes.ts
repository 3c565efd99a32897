// What operators note about an account, for each other: nobody else sees it.
import type { SettingStore } from '../store/ports/settings.ts';

export const NOTE_LENGTH_MAX = 2000;

/** Empty if there is none. */
export async function readNote(settings: Pick<SettingStore, 'get'>, account: string): Promise<string> {
  return (await settings.get(nameNote(account))) ?? '';
}

/** Replaces the note unless it is no longer `before`; resolves to whether it is `after` now. */
export async function replaceNote(
  settings: Pick<SettingStore, 'get' | 'replace'>,
  account: string,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<boolean> {
  const name = nameNote(account);
  const now = await settings.get(name);
  return (now ?? '') === before && settings.replace(name, { before: now, after });
}

function nameNote(account: string): string {
  return `note:${account}`;
}
