// Automatic top-ups after a restore: cards charged since the backup were charged for money that the wallets do not have
// any more, and owners may have turned them off since. So none is charged until its owner has seen the wallet.
import { BACKUP_SETTING } from '../store/backup-file.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkRows } from '../store/walks.ts';
import { markPaused, PROVIDER_OFF } from './topup-rules.ts';

type Parts = Pick<Store, 'payments' | 'settings'>;

/** Why they are paused; owners see it. */
export const RESTORED = 'the service was restored from a backup: the card may have been charged since';
const ROWS_PER_PAGE = 200;
const NOTED = 'restored ';

export interface RestoredBackup {
  /** When it was made. */
  readonly backup: string;
  /** How many automatic top-ups are paused now. */
  readonly paused: number;
}

/** Pauses them all on the first start of a service on a backup; undefined if this is none. Any number may do it at once. */
export async function pauseTopupsOfBackup(store: Parts, now: number): Promise<RestoredBackup | undefined> {
  const backup = await store.settings.get(BACKUP_SETTING);
  if (backup === undefined || backup.startsWith(NOTED)) return undefined;
  let paused = 0;
  const read = (page: PageStart) => store.payments.page('autoTopups', page);
  for await (const { id } of walkRows(ROWS_PER_PAGE, read, (row) => row.id)) {
    if (await pauseTopup(store, id, now)) paused += 1;
  }
  // Last, so that a start that is killed does it again.
  await store.settings.set(BACKUP_SETTING, `${NOTED}${new Date(now).toISOString()}`);
  return { backup, paused };
}

/** An order in flight at the backup goes on: it is sent again under its own key. */
async function pauseTopup({ payments }: Parts, wallet: string, now: number): Promise<boolean> {
  for (;;) {
    const auto = await payments.autoTopup(wallet);
    // Such a pause would end by itself.
    const isPaused = auto?.pausedAt !== null && auto?.reason !== PROVIDER_OFF;
    if (!auto?.enabled || isPaused) return false;
    if (await payments.changeAutoTopup(markPaused(auto, RESTORED, now))) return true;
  }
}
