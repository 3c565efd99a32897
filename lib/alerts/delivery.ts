// The delivery of one alert: which channels have received it, and when the next attempt is due.
import { randomBytes } from 'node:crypto';
import type { AlarmMark, AlertContent } from './watch.ts';

export interface AlertEvent extends AlertContent {
  /** The same id in every attempt, so that a receiver can drop duplicates. */
  readonly id: string;
  readonly account: string;
  /** ms since the epoch. */
  readonly at: number;
}

export interface Arrival {
  readonly state: 'due' | 'sent' | 'failed';
  /** The reason of the last failure, such as `unreachable` or `status 500`. */
  readonly why?: string;
  /** The recipient asked for no attempt before this time, in ms since the epoch. */
  readonly notBefore?: number;
}

export interface Delivery {
  readonly event: AlertEvent;
  /** Keyed by channel: `webhook`, or `mail:` or `telegram:` with the id of a user. */
  readonly arrivals: Readonly<Record<string, Arrival>>;
  readonly tries: number;
  /** ms since the epoch; null once delivery has ended. */
  readonly dueAt: number | null;
}

/** The stored state of an alarm. */
export interface AlarmState {
  readonly mark: AlarmMark | null;
  /** The latest delivery. */
  readonly delivery: Delivery | null;
}

/** Longer than any attempt. If the process dies, another one retries after this time. */
const CLAIM_MS = 120_000;
/** The waits after the first, second and third failure; after the fourth the delivery has failed. */
const RETRIES_MS = [60_000, 300_000, 1_800_000] as const;
/** Also if a recipient asks for more. */
const LONGEST_WAIT_MS = 2 * RETRIES_MS[2];

export function readAlarmState(text: string | undefined): AlarmState {
  return text === undefined ? { mark: null, delivery: null } : (JSON.parse(text) as AlarmState);
}

export function newDelivery(
  content: AlertContent,
  { account, channels, now }: { account: string; channels: readonly string[]; now: number },
): Delivery {
  const event = { ...content, id: `alr_${randomBytes(12).toString('hex')}`, account, at: now };
  const arrivals = Object.fromEntries(channels.map((name) => [name, { state: 'due' } as const]));
  return { event, arrivals, tries: 0, dueAt: channels.length === 0 ? null : now };
}

/** A due time further ahead than any wait comes from a clock that ran ahead; it counts as due. */
export function isDeliveryDue({ dueAt }: Delivery, now: number): boolean {
  return dueAt !== null && (dueAt <= now || dueAt > now + LONGEST_WAIT_MS);
}

/** The delivery while an attempt is running. */
export function claimDelivery(delivery: Delivery, now: number): Delivery {
  return { ...delivery, tries: delivery.tries + 1, dueAt: now + CLAIM_MS };
}

/** The delivery after an attempt. Channels that are still due after the last attempt have failed. */
export function recordAttempt(
  delivery: Delivery,
  arrivals: Delivery['arrivals'],
  now: number,
  retries = true,
): Delivery {
  const waitMs = retries ? RETRIES_MS[delivery.tries - 1] : undefined;
  const left = Object.values(arrivals).some(({ state }) => state === 'due');
  if (!left) return { ...delivery, arrivals, dueAt: null };
  if (waitMs !== undefined)
    return { ...delivery, arrivals, dueAt: Math.max(now + waitMs, findEarliest(arrivals, now)) };
  const ended = Object.entries(arrivals).map(([name, arrival]) => [
    name,
    arrival.state === 'due' ? { ...arrival, state: 'failed' as const } : arrival,
  ]);
  return { ...delivery, arrivals: Object.fromEntries(ended), dueAt: null };
}

/** When the first of the channels that are still due may be tried. */
function findEarliest(arrivals: Delivery['arrivals'], now: number): number {
  const due = Object.values(arrivals).filter(({ state }) => state === 'due');
  return Math.min(now + LONGEST_WAIT_MS, ...due.map(({ notBefore = 0 }) => notBefore));
}
