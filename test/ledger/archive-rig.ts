// Stores with old calls, for tests of archives.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { verifyChanges } from '../../lib/ledger/audit-changes.ts';
import { readUsage } from '../../lib/ledger/usage-fold.ts';
import type { Store } from '../../lib/store/store.ts';
import {
  applied,
  charge,
  giveBack,
  newAttempt,
  newId,
  RUB,
  reserve,
  settle,
  topup,
} from '../contract/store/context.ts';

export const DAY = 24 * 3_600_000;
export const NOW = Date.now();
export const ago = (days: number) => NOW - days * DAY;

/** A call that ended at once, with a request id of that time. */
export async function call(store: Store, wallet: string, at: number, amount = RUB): Promise<string> {
  const chargeId = requestId(at);
  const attempts = [newAttempt({ at, ending: 'failed', certainty: 'possible' }), newAttempt({ at })];
  await applied(store, reserve(wallet, { chargeId, at }), settle(wallet, chargeId, { at, amount, attempts }));
  return chargeId;
}

export function requestId(at: number): string {
  return `req_${at.toString(16).padStart(12, '0')}${newId('x').slice(2, 22)}`;
}

export interface History {
  readonly wallet: string;
  /** Calls that are old enough to be archived, in order. */
  readonly old: readonly string[];
  readonly held: string;
  /** A call that started before the archives of these tests and ended after them. */
  readonly across: string;
  readonly video: string;
  readonly young: string;
}

/** A wallet with every kind of row: calls with all outcomes, a budget, a video, an open hold. */
export async function history(store: Store, calls = 6): Promise<History> {
  const wallet = newId('acc');
  await store.accounts.create({ id: wallet, name: 'archived', createdAt: ago(200) });
  await applied(store, topup(wallet, 5000n * RUB, { at: ago(200) }));
  const old: string[] = [];
  for (let index = 0; index < calls; index += 1) old.push(await call(store, wallet, ago(150) + index * 1000));
  const [released, expired, video, held, across] = [150, 149, 148, 147, 41].map((days) => requestId(ago(days)));
  const ids = { released, expired, video, held, across } as Record<string, string>;
  for (const name of ['released', 'expired', 'held', 'across']) {
    await applied(store, reserve(wallet, { chargeId: ids[name] as string, at: ago(140) }));
  }
  await applied(store, giveBack('release', wallet, ids.released as string, { at: ago(139) }));
  await applied(store, giveBack('expire', wallet, ids.expired as string, { at: ago(139) }));
  await applied(store, charge(wallet, { chargeId: ids.video as string, at: ago(138) }));
  const budgeted = requestId(ago(130));
  const budget = { period: ago(135), limit: null };
  await applied(store, reserve(wallet, { chargeId: budgeted, at: ago(130), key: `key_of_${wallet}`, budget }));
  await applied(store, settle(wallet, budgeted, { at: ago(130) }));
  await applied(store, settle(wallet, ids.across as string, { at: ago(39), amount: 3n * RUB }));
  const young = await call(store, wallet, ago(31));
  return {
    wallet,
    old: [...old, ids.released as string, ids.expired as string, budgeted],
    held: ids.held as string,
    across: ids.across as string,
    video: ids.video as string,
    young,
  };
}

/** The values that must be the same before and after archiving. */
export async function booksOf(store: Store, wallet: string) {
  const usage = await readUsage(store, wallet, { by: 'model', filter: {} });
  const charged = await store.ledger.chargedAt(wallet, ago(30));
  return { wallet: await store.ledger.wallet(wallet), usage, charged };
}

export async function expectClean(store: Store): Promise<void> {
  for (const verify of [verifyChanges, verifyLedger]) {
    const { problems, ok } = await verify(store);
    expect(problems).to.deep.equal([]);
    expect(ok).to.equal(true);
  }
}

export interface Folder {
  readonly path: string;
  file(name: string): string;
  remove(): void;
}

export function makeFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
  return { path, file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}
