// How reliably models answered: for each, the share of attempts at upstreams that were answered, by hour and by day.
import { HOUR_MS } from '../base/durations.ts';
import { addDays, findHourDay } from '../money/days.ts';
import { DEFAULT_ZONE } from '../money/key-limits.ts';
import type { ServiceRow, UsageStore } from '../store/ports/usage.ts';
import { parseRouteName } from '../store/service-sums.ts';
import { listDaySlots, listHourSlots, type TimeSlot } from './time-slots.ts';

const HOURS = 24;
export const STATUS_DAYS = 90;

/** From 0 to 1; undefined without attempts. */
export type Share = number | undefined;

export interface ModelStatus {
  readonly model: string;
  readonly lastHour: Share;
  readonly day: Share;
  readonly all: Share;
  readonly hours: readonly Share[];
  readonly days: readonly Share[];
}

interface Tally {
  answered: number;
  failed: number;
}

/**
 * Says of an attempt how it counts: not at all if the client left, or the request was at fault. An upstream that refuses
 * because of its own limits or keys failed.
 */
export function judgeAttempt({
  ending,
  reason,
}: {
  readonly ending: string;
  readonly reason: string;
}): keyof Tally | undefined {
  if (ending === 'answered') return 'answered';
  if (/(?:^| )request$/.test(reason)) return undefined;
  if (ending === 'cut' || ending === 'failed' || ending === 'timeout') return 'failed';
  // Attempts of earlier versions have no reason.
  return ending === 'refused' && reason !== '' ? 'failed' : undefined;
}

/** Of these models, in their order. The current hour counts as the last one while it has just begun. */
export async function readStatus(
  usage: Pick<UsageStore, 'serviceSums'>,
  models: readonly string[],
  now: number,
): Promise<readonly ModelStatus[]> {
  const end = now - (now % HOUR_MS) + HOUR_MS;
  const today = findHourDay(now, DEFAULT_ZONE);
  const hourSlots = listHourSlots(end - HOURS * HOUR_MS, end, DEFAULT_ZONE);
  const daySlots = listDaySlots(addDays(today, 1 - STATUS_DAYS), today, DEFAULT_ZONE);
  const read = (slots: readonly TimeSlot[]) =>
    usage.serviceSums({
      subject: 'route',
      by: 'both',
      from: slots[0]?.from ?? end,
      to: slots.at(-1)?.to ?? end,
      starts: slots.map(({ from }) => from),
    });
  const [hourly, daily] = (await Promise.all([read(hourSlots), read(daySlots)])).map(tallyModels);
  return models.map((model) => {
    const hours = hourSlots.map(({ from }) => hourly?.get(model)?.get(from));
    const days = daySlots.map(({ from }) => daily?.get(model)?.get(from));
    return {
      model,
      lastHour: toShare(addTallies(hours.slice(-2))),
      day: toShare(addTallies(hours)),
      all: toShare(addTallies(days)),
      hours: hours.map(toShare),
      days: days.map(toShare),
    };
  });
}

/** By model and start of the slot. */
function tallyModels(rows: readonly ServiceRow[]): ReadonlyMap<string, ReadonlyMap<number, Tally>> {
  const models = new Map<string, Map<number, Tally>>();
  for (const { at, name, attempts } of rows) {
    const { model, ...how } = parseRouteName(name);
    const verdict = judgeAttempt(how);
    if (!verdict) continue;
    const slots = models.get(model) ?? new Map<number, Tally>();
    const tally = slots.get(at) ?? { answered: 0, failed: 0 };
    tally[verdict] += attempts;
    models.set(model, slots.set(at, tally));
  }
  return models;
}

function addTallies(tallies: readonly (Tally | undefined)[]): Tally {
  return tallies.reduce<Tally>(
    (sum, tally) => ({ answered: sum.answered + (tally?.answered ?? 0), failed: sum.failed + (tally?.failed ?? 0) }),
    { answered: 0, failed: 0 },
  );
}

function toShare(tally: Tally | undefined): Share {
  const { answered = 0, failed = 0 } = tally ?? {};
  return answered + failed === 0 ? undefined : answered / (answered + failed);
}
