// Watches the service for its operators: keys that upstreams refuse, upstreams that keep failing, the ledger, disks, and payments under review.
import { hostname } from 'node:os';
import { readLastAudit } from '../ledger/last-audit.ts';
import { addDays } from '../money/days.ts';
import { formatRub } from '../money/money.ts';
import { LITTLE_BYTES, listDataFolders, NOTHING_BYTES, readFreeBytes } from '../store/free-space.ts';
import type { Store } from '../store/store.ts';
import type { UpstreamFaultKind } from '../upstream/contract/fault.ts';
import type { AlertContent, Watch } from './watch.ts';

/** What this process knows of an upstream. */
export interface WatchedUpstream {
  readonly upstream: string;
  /** How many keys, and how many are paused because it refuses them, or says that there is no money. */
  readonly keys: { readonly keys: number; readonly auth: number; readonly quota: number };
  /** Routes that keep failing. */
  readonly outages: readonly WatchedOutage[];
}

interface WatchedOutage {
  readonly models: readonly string[];
  /** Of the latest failure. */
  readonly kind: UpstreamFaultKind | undefined;
  readonly openMs: number;
  /** How long it has been seen to fail. */
  readonly failedMs: number;
}

interface ServiceWatchOptions {
  readonly store: Pick<Store, 'settings' | 'payments'>;
  readonly config: Parameters<typeof listDataFolders>[0];
  readonly upstreams: () => readonly WatchedUpstream[];
  /** ms since the epoch. */
  readonly now?: () => number;
}

export type ServiceWatches = () => Promise<readonly Watch[]>;

/** More payments under review than these are counted as so many. */
const REVIEWS_MAX = 50;
/** Reading them may walk over all payments. */
const REVIEWS_EVERY_MS = 120_000;

export function createServiceWatches({
  store,
  config,
  upstreams,
  now = Date.now,
}: ServiceWatchOptions): ServiceWatches {
  const folders = listDataFolders(config);
  let reviewsReadAt = Number.NEGATIVE_INFINITY;
  async function listReviews(): Promise<readonly Watch[]> {
    // `abs`, because the clock may have been set back.
    if (Math.abs(now() - reviewsReadAt) < REVIEWS_EVERY_MS) return [];
    const reviews = await store.payments.list({ phases: ['review'], limit: REVIEWS_MAX });
    reviewsReadAt = now();
    return [watchReviews(reviews.map(({ id }) => id))];
  }

  return async () => {
    const [last, reviews, disks] = await Promise.all([
      readLastAudit(store),
      listReviews(),
      Promise.all(folders.map(watchFolder)),
    ]);
    const day = new Date(now()).toISOString().slice(0, 10);
    return [
      ...upstreams().flatMap((upstream) => [...watchKeys(upstream, day), ...watchOutages(upstream, now())]),
      ...(last ? [watchLedger(last)] : []),
      ...disks.flat(),
      ...reviews,
    ];
  };
}

/** Each process knows only of its own calls, so nothing is re-armed: an upstream is told of once a day. */
export function watchKeys({ upstream, keys }: Omit<WatchedUpstream, 'outages'>, day: string): readonly Watch[] {
  const watch = (type: AlertContent['type'], refused: number): readonly Watch[] => {
    if (refused === 0) return [];
    const content = { type, data: { upstream, keys: `${keys.keys}`, refused: `${refused}` } };
    // A process with a clock ahead may already have told of the next day.
    const decide: Watch['decide'] = (mark) =>
      mark?.day === day || mark?.day === addDays(day, 1) ? { kind: 'stay' } : { kind: 'alert', mark: { day }, content };
    return [{ subject: `${type}:${upstream}`, decide }];
  };
  return [...watch('upstream.key_refused', keys.auth), ...watch('upstream.no_money', keys.quota)];
}

/** Shorter ones pass by themselves. */
const OUTAGE_MS = 10 * 60_000;
/** What begins within this time after an alert belongs to the same outage: it comes and goes. */
const SAME_OUTAGE_MS = 60 * 60_000;
const REMIND_MS = 24 * 60 * 60_000;
const MODELS_MAX = 20;

/**
 * Alerts when routes have failed for ten minutes, when further ones do an hour later or more, and again each day. Never
 * re-armed, because each process knows only of its own calls. Keys that are refused or without money have alerts of their
 * own; an upstream without any key may refuse us as well.
 */
export function watchOutages({ upstream, keys, outages }: WatchedUpstream, at: number): readonly Watch[] {
  const isOfKeys = ({ kind }: WatchedOutage) => keys.keys > 0 && (kind === 'auth' || kind === 'quota');
  const long = outages
    .filter((outage) => outage.failedMs >= OUTAGE_MS && !isOfKeys(outage))
    .sort((one, other) => other.openMs - one.openMs);
  if (long.length === 0) return [];
  const decide: Watch['decide'] = (mark) => {
    const markedAt = Number(mark?.at ?? Number.NEGATIVE_INFINITY);
    // A time that is still to come is from before the clock was set back.
    const alertedAt = markedAt > at + SAME_OUTAGE_MS ? Number.NEGATIVE_INFINITY : markedAt;
    const fresh = long.filter(({ openMs }) => at - openMs >= alertedAt + SAME_OUTAGE_MS);
    const told = at < alertedAt + REMIND_MS ? fresh : long;
    if (told.length === 0) return { kind: 'stay' };
    const content = { type: 'upstream.failing', data: { upstream, ...describeOutages(told) } } as const;
    return { kind: 'alert', mark: { at: `${at}` }, content };
  };
  return [{ subject: `upstream.failing:${upstream}`, decide }];
}

/** The longest first. */
function describeOutages(outages: readonly WatchedOutage[]) {
  const models = [...new Set(outages.flatMap((outage) => outage.models))];
  const shown = models.slice(0, MODELS_MAX).join(', ');
  return {
    models: models.length > MODELS_MAX ? `${shown}, …` : shown,
    minutes: `${Math.floor((outages[0]?.openMs ?? 0) / 60_000)}`,
    kind: outages[0]?.kind ?? 'plugin',
  };
}

/** Alerts again when an audit finds more. */
export function watchLedger({ problems, drift }: { readonly problems: number; readonly drift: string }): Watch {
  return {
    subject: 'ledger.wrong',
    decide(mark) {
      if (problems === 0) return { kind: mark ? 'rearm' : 'stay' };
      if (mark && problems <= Number(mark.problems)) return { kind: 'stay' };
      const data = { problems: `${problems}`, drift: formatRub(BigInt(drift)) };
      return { kind: 'alert', mark: { problems: `${problems}` }, content: { type: 'ledger.wrong', data } };
    },
  };
}

/** A folder that cannot be read is told of by whatever writes to it. */
async function watchFolder(folder: string): Promise<readonly Watch[]> {
  const bytes = await readFreeBytes(folder).catch(() => undefined);
  return bytes === undefined ? [] : [watchDisk({ folder, host: hostname(), bytes })];
}

/** This many percent more than little is enough again. */
const ENOUGH_PERCENT = 110;

/** Gateways on several machines have disks of their own. */
export function watchDisk({ folder, host, bytes }: { folder: string; host: string; bytes: number }): Watch {
  const level = bytes < NOTHING_BYTES ? 'nothing' : bytes < LITTLE_BYTES ? 'little' : 'enough';
  return {
    subject: `disk.low:${host}:${folder}`,
    decide(mark) {
      if (level === 'enough') return { kind: mark && bytes * 100 >= LITTLE_BYTES * ENOUGH_PERCENT ? 'rearm' : 'stay' };
      if (mark?.level === level || mark?.level === 'nothing') return { kind: 'stay' };
      const free = (bytes / 1024 ** 3).toFixed(1);
      return { kind: 'alert', mark: { level }, content: { type: 'disk.low', data: { folder, host, free } } };
    },
  };
}

/** `payments` are the ids of those under review, newest first; each alerts once. */
export function watchReviews(payments: readonly string[]): Watch {
  return {
    subject: 'payments.review',
    decide(mark) {
      const [newest] = payments;
      if (newest === undefined) return { kind: mark ? 'rearm' : 'stay' };
      const known = new Set(mark?.payments?.split(' '));
      if (payments.every((id) => known.has(id))) return { kind: 'stay' };
      const count = payments.length < REVIEWS_MAX ? `${payments.length}` : `${REVIEWS_MAX}+`;
      const content = { type: 'payments.review', data: { count, newest } } as const;
      return { kind: 'alert', mark: { payments: payments.join(' ') }, content };
    },
  };
}
