// What operators note about an account, for each other: nobody else sees it.
import type { SettingStore } from '../store/ports/settings.ts';

export const NOTE_LENGTH_MAX = 2000;

/** Empty if there is none. */
export async function readNote(settings: Pick<SettingStore, 'get'>, account: string): Promise<string> {
  return (await settings.get(nameNote(account))) ?? '';
}

export function saveNote(settings: Pick<SettingStore, 'set'>, account: string, note: string): Promise<void> {
  return settings.set(nameNote(account), note);
}

function nameNote(account: string): string {
  return `note:${account}`;
}
