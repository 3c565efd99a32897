// The first start on a backup. Automatic top-ups are paused: cards charged since were charged for money that the wallets do
// not have any more, and owners may have turned them off. Providers are asked about all payments that may have been
// refunded since: the wallets have that money again, and no webhook comes twice.
import { eachConcurrently } from '../base/each-concurrently.ts';
import { CREDITED_PHASES, type Payment } from '../money/payment-rules.ts';
import { BACKUP_SETTING } from '../store/backup-file.ts';
import { LONGEST_WAIT_MS } from '../store/claim.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkPages, walkRows } from '../store/walks.ts';
import { markPaused, PROVIDER_OFF } from './topup-rules.ts';

type Parts = Pick<Store, 'payments' | 'settings'>;

/** Why they are paused; owners see it. */
export const RESTORED = 'the service was restored from a backup: the card may have been charged since';
const ROWS_PER_PAGE = 200;
const NOTED = 'restored ';
const WRITES_AT_ONCE = 8;
/** Providers limit how often they are asked. */
const ASK_EVERY_MS = 200;

export interface RestoredBackup {
  /** When it was made. */
  readonly backup: string;
  /** How many automatic top-ups are paused now. */
  readonly paused: number;
  /** How many payments the providers will be asked about. */
  readonly asked: number;
}

/** Undefined if this is no first start on a backup. Any number may do it at once. */
export async function handleRestore(store: Parts, now: number): Promise<RestoredBackup | undefined> {
  const backup = await store.settings.get(BACKUP_SETTING);
  if (backup === undefined || backup.startsWith(NOTED)) return undefined;
  let paused = 0;
  const read = (page: PageStart) => store.payments.page('autoTopups', page);
  for await (const { id } of walkRows(ROWS_PER_PAGE, read, (row) => row.id)) {
    if (await pauseTopup(store, id, now)) paused += 1;
  }
  const asked = await askAboutRefunds(store, now);
  // Last, so that a start that is killed does it again.
  await store.settings.set(BACKUP_SETTING, `${NOTED}${new Date(now).toISOString()}`);
  return { backup, paused, asked };
}

/** When the service was restored from a backup last; 0: never. */
export async function readRestoredAt({ settings }: Pick<Store, 'settings'>): Promise<number> {
  const noted = await settings.get(BACKUP_SETTING);
  return noted?.startsWith(NOTED) ? Date.parse(noted.slice(NOTED.length)) : 0;
}

/** Makes the payments due one after the other. */
async function askAboutRefunds({ payments }: Parts, now: number): Promise<number> {
  let asked = 0;
  const read = (page: PageStart) => payments.page('payments', page);
  for await (const page of walkPages(ROWS_PER_PAGE, read, (row) => row.id)) {
    await eachConcurrently(page.filter(mayHaveBeenRefunded), WRITES_AT_ONCE, async ({ id, version }) => {
      asked += 1;
      // One that changes in between is being worked on.
      await payments.change({
        kind: 'poll',
        id,
        version,
        at: now,
        dueAt: now + ((asked * ASK_EVERY_MS) % LONGEST_WAIT_MS.payments),
      });
    });
  }
  return asked;
}

function mayHaveBeenRefunded({ phase, ref, credited, refunded, dueAt }: Payment): boolean {
  return CREDITED_PHASES.includes(phase) && ref !== null && credited > refunded && dueAt === null;
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
