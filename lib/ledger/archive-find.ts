// Finds an archived call in the files of the archives.
import { existsSync } from 'node:fs';
import type { Archive, WholeCall } from '../store/ports/archives.ts';
import type { Store } from '../store/store.ts';
import { readArchive } from './archive-file.ts';

/** A request id starts with the arrival time; the charge starts later, once the body is read. */
const AFTER_ARRIVAL_MS = 600_000;

interface ArchivedCall {
  readonly archive: Archive;
  /** Undefined if the file is missing: the call may be in it. */
  readonly call: WholeCall | undefined;
}

/** Undefined if no archive can contain the call. */
export async function findArchived(
  { archives }: Pick<Store, 'archives'>,
  chargeId: string,
): Promise<ArchivedCall | undefined> {
  const possible = (await archives.list()).filter((archive) => mayContain(archive, chargeId));
  for (const archive of possible) {
    const call = existsSync(archive.file) ? await findCallInFile(archive.file, chargeId) : undefined;
    if (call) return { archive, call };
  }
  const missing = possible.find(({ file }) => !existsSync(file));
  return missing && { archive: missing, call: undefined };
}

function mayContain({ state, first, last }: Archive, chargeId: string): boolean {
  if (state === 'writing' || first === null || last === null) return false;
  const [, time] = /^req_([0-9a-f]{12})/.exec(chargeId) ?? [];
  if (time === undefined) return true;
  const at = Number.parseInt(time, 16);
  return at >= first - AFTER_ARRIVAL_MS && at <= last;
}

async function findCallInFile(file: string, chargeId: string): Promise<WholeCall | undefined> {
  for await (const line of readArchive(file)) if ('call' in line && line.call.charge.id === chargeId) return line.call;
  return undefined;
}

/** The time before which calls of the wallet may be in archives; undefined if none are. */
export async function findLatestArchiveDate(
  { archives }: Pick<Store, 'archives'>,
  wallet: string,
): Promise<number | undefined> {
  if (!(await archives.opening(wallet))) return undefined;
  const written = (await archives.list()).filter(({ state }) => state !== 'writing');
  return written.reduce((latest, { before }) => Math.max(latest, before), 0);
}
