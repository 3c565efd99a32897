// Sums of a wallet's usage by parts of a time: whatever the store keeps beside the hours, they are those of the hours.
import { expect } from 'chai';
import fc from 'fast-check';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import { addDays, findDayStartHour } from '../../../lib/money/days.ts';
import { UNIT_COUNTS } from '../../../lib/money/usage-units.ts';
import type { UsageGroupSum, UsageHour, UsageSlotQuery, UsageTotals } from '../../../lib/store/ports/usage.ts';
import { sumUsage } from '../../../lib/store/usage-grains.ts';
import { addUsageTotals, NO_USAGE } from '../../../lib/store/usage-totals.ts';
import { longer } from '../../../testkit/long.ts';
import { newWallet, type StoreContext } from './context.ts';

const HOURS_PER_STEP = 400;
/** In both ranges New York changes its clocks; in those of Kolkata every day begins in the middle of an hour. */
const ZONES = ['UTC', 'Europe/Moscow', 'Asia/Kolkata', 'America/New_York', 'Pacific/Apia'];
const RANGES = [
  ['2026-02-20', '2026-04-05'],
  ['2026-10-25', '2026-11-20'],
] as const;

/** Calls of every fifth hour of the ranges and the days around them, and of the hours around each midnight of UTC. */
function makeHours(): readonly UsageHour[] {
  return RANGES.flatMap(([first, last]) => {
    const from = findDayStartHour(addDays(first, -3), 'UTC');
    const count = (findDayStartHour(addDays(last, 3), 'UTC') - from) / HOUR_MS;
    return Array.from({ length: count }, (_, at) => at)
      .filter((at) => at % 5 === 0 || at % 24 === 0 || at % 24 === 23)
      .flatMap((at) => [makeHour(from + at * HOUR_MS, at), makeHour(from + at * HOUR_MS, at + 7)]);
  });
}

function makeHour(hour: number, seed: number): UsageHour {
  const number = (factor: number) => ((seed + 1) * factor) % 97;
  return {
    hour,
    key: `key_${seed % 3}`,
    model: `model-${seed % 2}`,
    kind: seed % 4 === 0 ? 'image' : 'text',
    calls: number(3),
    charged: BigInt(number(1_234_567)),
    // A refund of an earlier call.
    refunded: -BigInt(number(5)),
    failed: number(7),
    cost: BigInt(number(11)),
    unpriced: number(13),
    ...(Object.fromEntries(UNIT_COUNTS.map((name, at) => [name, number(17 + at)])) as Pick<
      UsageTotals,
      (typeof UNIT_COUNTS)[number]
    >),
  };
}

/** One row of each hour, key, model and kind. */
const HOURS = [...new Map(makeHours().map((row) => [`${row.hour} ${row.key} ${row.model} ${row.kind}`, row])).values()];

type Filter = Pick<UsageSlotQuery, 'key' | 'keys' | 'model' | 'kind'>;

function listHours({ key, keys, model, kind }: Filter): readonly UsageHour[] {
  return HOURS.filter(
    (row) =>
      (key === undefined || row.key === key) &&
      (keys?.includes(row.key) ?? true) &&
      (model === undefined || row.model === model) &&
      (kind === undefined || row.kind === kind),
  );
}

/** The sums of the hours themselves, by part of the time and group. */
function addUp(hours: readonly UsageHour[], nameGroup: (row: UsageHour) => string) {
  const sums: Record<string, UsageTotals> = {};
  for (const { hour, key, model, kind, ...totals } of hours) {
    const name = nameGroup({ hour, key, model, kind, ...totals });
    sums[name] = addUsageTotals(sums[name] ?? NO_USAGE, totals);
  }
  return sums;
}

/** With 0 in place of the others. */
function keepCounts(hours: readonly UsageHour[], counts: UsageSlotQuery['counts']): readonly UsageHour[] {
  if (!counts) return hours;
  return hours.map((row) => ({ ...row, ...NO_USAGE, ...Object.fromEntries(counts.map((name) => [name, row[name]])) }));
}

export function usageContract(context: StoreContext): void {
  let wallet: string;
  before(async () => {
    wallet = await newWallet(context.store);
    await addHours(wallet);
  });

  /** In steps, as they are folded: of a day, the hours come in several. */
  async function addHours(id: string, some = HOURS): Promise<void> {
    const mixed = some.toSorted((one, other) => (one.hour % 7) - (other.hour % 7) || one.hour - other.hour);
    for (let from = 0; from < mixed.length; from += HOURS_PER_STEP) {
      const hours = mixed.slice(from, from + HOURS_PER_STEP);
      expect(await context.store.usage.add({ wallet: id, from, to: from + hours.length, hours })).to.equal(true);
    }
  }

  async function expectSlots(query: UsageSlotQuery): Promise<void> {
    expect(await compareSlots(query)).to.be.above(0);
  }

  /** Resolves to how many there are. */
  async function compareSlots(query: UsageSlotQuery): Promise<number> {
    const { starts, to, by, counts, ...filter } = query;
    const found: Record<string, UsageTotals> = {};
    for (const { at, group, ...totals } of await context.store.usage.slots(wallet, query)) {
      const name = `${new Date(at).toISOString()} ${group}`;
      found[name] = addUsageTotals(found[name] ?? NO_USAGE, totals);
    }
    const inside = listHours(filter).filter(({ hour }) => hour >= (starts[0] ?? to) && hour < to);
    const wanted = addUp(keepCounts(inside, counts), (row) => {
      const start = starts.findLast((each) => each <= row.hour) as number;
      return `${new Date(start).toISOString()} ${row[by]}`;
    });
    expect(found).to.deep.equal(wanted);
    return Object.keys(wanted).length;
  }

  for (const zone of ZONES) {
    it(`adds up days, weeks and a whole range in ${zone}, also where the clocks change`, async () => {
      for (const [first, last] of RANGES) {
        const days = Array.from({ length: 60 }, (_, at) => addDays(first, at)).filter((day) => day <= last);
        const to = findDayStartHour(addDays(last, 1), zone);
        for (const length of [1, 7, days.length]) {
          const starts = days.filter((_, at) => at % length === 0).map((day) => findDayStartHour(day, zone));
          await expectSlots({ by: 'model', starts, to });
        }
      }
    });
  }

  it('adds up parts that begin and end in the middle of a day', async () => {
    const noon = findDayStartHour('2026-03-01', 'UTC') + 12 * HOUR_MS;
    for (const hours of [
      [0, 1],
      [0, 5, 11],
      // The last part is longer than the others.
      [0, 1, 11],
      [0, 2, 4, 16],
      [0, 12],
      [0, 12, 36],
      [0, 13, 35, 60],
      [0, 30, 150, 151, 500],
    ]) {
      const starts = hours.slice(0, -1).map((hour) => noon + hour * HOUR_MS);
      await expectSlots({ by: 'key', starts, to: noon + (hours.at(-1) as number) * HOUR_MS });
    }
  });

  it('adds up any parts as their hours, wherever they begin and end in a zone', async () => {
    const [first] = RANGES[0];
    const parts = fc.record({
      zone: fc.constantFrom(...ZONES),
      day: fc.integer({ min: -5, max: 290 }),
      hour: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 23 })),
      lengths: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
      by: fc.constantFrom('model', 'key', 'kind'),
    });
    const property = fc.asyncProperty(parts, async ({ zone, day, hour, lengths, by }) => {
      const days = [day];
      for (const length of lengths) days.push((days.at(-1) as number) + length);
      const times = days.map((at) => findDayStartHour(addDays(first, at), zone) + hour * HOUR_MS);
      const [from, to] = [times[0], times.at(-1)] as [number, number];
      await compareSlots({ by, starts: times.slice(0, -1), to });
      const inside = HOURS.filter((row) => row.hour >= from && row.hour < to);
      const found = await context.store.usage.sums(wallet, { by: 'day', from, to });
      const sums = found.map(({ group, ...totals }) => [group, totals]);
      expect(Object.fromEntries(sums)).to.deep.equal(
        addUp(inside, (row) => new Date(row.hour).toISOString().slice(0, 10)),
      );
    });
    await fc.assert(property, { numRuns: longer(40, 400) });
  });

  it('adds up those of one key, of some, of a model and of a kind', async () => {
    const starts = [findDayStartHour('2026-02-25', 'Europe/Moscow'), findDayStartHour('2026-03-10', 'Europe/Moscow')];
    const to = findDayStartHour('2026-04-01', 'Europe/Moscow');
    const filters: readonly Filter[] = [
      { key: 'key_1' },
      { keys: ['key_0', 'key_2'] },
      { model: 'model-1' },
      { kind: 'image' },
      { key: 'key_1', model: 'model-1', kind: 'text' },
    ];
    for (const filter of filters) {
      for (const by of ['model', 'key', 'kind'] as const) await expectSlots({ ...filter, by, starts, to });
    }
    expect(await context.store.usage.slots(wallet, { by: 'kind', starts, to, keys: [] })).to.deep.equal([]);
    expect(await context.store.usage.slots('none', { by: 'kind', starts, to })).to.deep.equal([]);
  });

  it('adds up some counts, of which the others are 0', async () => {
    const starts = ['2026-02-25', '2026-03-10'].map((day) => findDayStartHour(day, 'Europe/Moscow'));
    const to = findDayStartHour('2026-04-01', 'Europe/Moscow');
    for (const counts of [['calls'], ['charged', 'cost'], ['tokensCacheWrite1h', 'unpriced', 'images']] as const)
      await expectSlots({ by: 'model', starts, to, counts });
    const [found] = await context.store.usage.sums(wallet, { by: 'kind', kind: 'text', counts: ['refunded'] });
    const { refunded } = Object.values(addUp(listHours({ kind: 'text' }), () => ''))[0] as UsageTotals;
    expect(found).to.deep.equal({ ...NO_USAGE, group: 'text', refunded });
  });

  it('adds up a time by hour, UTC day, model, key, kind, and the three of them at once', async () => {
    const from = findDayStartHour('2026-03-01', 'UTC') + 12 * HOUR_MS;
    const to = findDayStartHour('2026-03-12', 'UTC') + 5 * HOUR_MS;
    const name = {
      hour: (row: UsageHour) => String(row.hour),
      day: ({ hour }: UsageHour) => new Date(hour).toISOString().slice(0, 10),
      model: (row: UsageHour) => row.model,
      key: (row: UsageHour) => row.key,
      kind: (row: UsageHour) => row.kind,
      names: ({ key, kind, model }: UsageHour) => `${key} ${kind} ${model}`,
    };
    const toTotals = (rows: readonly UsageGroupSum[]) =>
      Object.fromEntries(rows.map(({ group, ...totals }) => [group, totals]));
    for (const by of ['hour', 'day', 'model', 'key', 'kind', 'names'] as const) {
      for (const range of [{}, { from }, { to }, { from, to }, { from, to: from + HOUR_MS }]) {
        const inside = HOURS.filter(({ hour }) => hour >= (range.from ?? 0) && hour < (range.to ?? Infinity));
        const found = await context.store.usage.sums(wallet, { by, ...range });
        expect(toTotals(found), by).to.deep.equal(addUp(inside, name[by]));
        expect(found).to.have.length(Object.keys(toTotals(found)).length);
      }
    }
  });

  it('lists, in pages, the wallets with entries after the cursor or with open jobs', async () => {
    const { usage } = context.store;
    const made = [await newWallet(context.store), await newWallet(context.store), await newWallet(context.store)];
    const [counted = '', waiting = '', behind = ''] = made;
    const step = { from: 0, to: 1, hours: [] };
    const job = { charge: 'c', hour: 0, key: 'k', model: 'm', kind: 'video' } as const;
    expect(await usage.add({ ...step, wallet: counted })).to.equal(true);
    expect(await usage.add({ ...step, wallet: waiting, jobs: { from: [], to: [job] } })).to.equal(true);
    const listed: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Awaited<ReturnType<typeof usage.findBehind>> = await usage.findBehind(after, 2);
      listed.push(...page.found);
      after = page.next;
    }
    expect(listed.filter((id) => made.includes(id))).to.deep.equal([waiting, behind].sort());
  });

  describe('the days and weeks of a wallet', () => {
    const readCoarser = async (id: string) => {
      const { days, weeks } = await context.store.usage.readAll(id);
      return { days, weeks };
    };
    const expectSumsOf = async (id: string, hours: readonly UsageHour[]) => {
      const { days, weeks } = await readCoarser(id);
      expect(days).to.have.deep.members([...sumUsage(hours, 'hour', 'day')]);
      expect(weeks).to.have.deep.members([...sumUsage(hours, 'hour', 'week')]);
    };

    it('are the sums of its hours', async () => {
      await expectSumsOf(wallet, HOURS);
      const { days, weeks } = await readCoarser(wallet);
      expect(weeks.length).to.be.lessThan(days.length / 3);
      for (const { week } of weeks) expect(new Date(week).toUTCString()).to.match(/^Thu, .* 00:00:00 GMT$/);
    });

    it('are gone with the hours, and made anew from them', async () => {
      const { usage } = context.store;
      const other = await newWallet(context.store);
      const some = HOURS.slice(0, 150);
      await addHours(other, some);
      const folded = await usage.readAll(other);
      await usage.forget(other);
      expect(await readCoarser(other)).to.deep.equal({ days: [], weeks: [] });
      expect(await usage.sums(other, { by: 'day' })).to.deep.equal([]);
      expect(await usage.sums(other, { by: 'model' })).to.deep.equal([]);
      await addHours(other, some);
      await expectSumsOf(other, some);
      const [first] = folded.hours as [UsageHour];
      await usage.put(other, { ...folded, hours: [first] });
      await expectSumsOf(other, [first]);
      await usage.put(other, folded);
      await expectSumsOf(other, folded.hours);
      await expectSumsOf(wallet, HOURS);
    });

    it('do not change with a step that is refused', async () => {
      const [hour] = HOURS as [UsageHour];
      expect(await context.store.usage.add({ wallet, from: 1, to: 2, hours: [hour] })).to.equal(false);
      await expectSumsOf(wallet, HOURS);
    });
  });
}
