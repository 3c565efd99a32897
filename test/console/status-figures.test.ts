// How reliably models answered: which attempts count, and the shares of an hour, a day and all days.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { judgeAttempt, readStatus, STATUS_DAYS } from '../../lib/console/status-figures.ts';
import type { RouteEnding, ServiceRow, UsageStore } from '../../lib/store/ports/usage.ts';
import { formatRouteName, NO_SERVICE } from '../../lib/store/service-sums.ts';

const NOW = Date.UTC(2026, 10, 26, 9, 30);

describe('the figures of the status page', () => {
  it('count what was answered and what failed, but not what clients ended or asked wrongly', () => {
    const rows: readonly (readonly [ending: string, reason: string, verdict: string | undefined])[] = [
      ['answered', '', 'answered'],
      ['failed', '503 overloaded', 'failed'],
      ['cut', '', 'failed'],
      ['timeout', '', 'failed'],
      ['refused', '429 limit', 'failed'],
      ['refused', '400 request', undefined],
      ['failed', 'request', undefined],
      ['failed', '400 badrequest', 'failed'],
      ['refused', '', undefined],
      ['left', '', undefined],
    ];
    for (const [ending, reason, verdict] of rows)
      expect(judgeAttempt({ ending, reason }), `${ending} ${reason}`).to.equal(verdict);
  });

  it('are shares of the last two hours, of a day and of 90 days, for models in their order', async () => {
    const asked: { readonly from: number; readonly to: number; readonly starts?: readonly number[] }[] = [];
    const row = (at: number, model: string, ending: RouteEnding, attempts: number): ServiceRow => {
      const name = formatRouteName({ upstream: 'vendor', model, ending, reason: '' });
      return { ...NO_SERVICE, at, name, attempts };
    };
    const hour = NOW - (NOW % HOUR_MS);
    const day = Date.UTC(2026, 10, 25, 21);
    const hourly = [
      row(hour, 'm', 'answered', 3),
      row(hour - HOUR_MS, 'm', 'failed', 1),
      row(hour - 2 * HOUR_MS, 'm', 'failed', 4),
      row(hour, 'm', 'left' as RouteEnding, 9),
      row(hour, 'other', 'failed', 9),
    ];
    const daily = [row(day, 'm', 'answered', 8), row(day, 'm', 'timeout', 2)];
    const serviceSums = (async (query: (typeof asked)[number]) =>
      asked.push(query) === 1 ? hourly : daily) as unknown as UsageStore['serviceSums'];
    const [none, found, ...others] = await readStatus({ serviceSums }, ['none', 'm'], NOW);
    expect(others).to.deep.equal([]);
    expect(none).to.include({ model: 'none', lastHour: undefined, day: undefined, all: undefined });
    expect(found).to.include({ model: 'm', lastHour: 0.75, day: 3 / 8, all: 0.8 });
    expect([found?.hours.length, found?.hours.slice(-3)]).to.deep.equal([24, [0, 0, 1]]);
    expect([found?.days.length, found?.days.at(-1), found?.days.at(-2)]).to.deep.equal([STATUS_DAYS, 0.8, undefined]);
    expect(asked.map(({ from, to, starts }) => [from, to, starts?.length])).to.deep.equal([
      [hour - 23 * HOUR_MS, hour + HOUR_MS, 24],
      [day - (STATUS_DAYS - 1) * 24 * HOUR_MS, day + 24 * HOUR_MS, STATUS_DAYS],
    ]);
    expect(asked[0]).to.include({ subject: 'route', by: 'both' });
  });
});
