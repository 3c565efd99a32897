// The public status page: off unless switched on, with shares of attempts and nothing about customers or money.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { judgeAttempt, readStatus } from '../../lib/console/status-figures.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import type { ServiceQuery, ServiceRow } from '../../lib/store/ports/usage.ts';
import { formatRouteName, NO_SERVICE } from '../../lib/store/service-sums.ts';
import { send, until } from '../../testkit/client.ts';
import { cpuMs } from '../../testkit/event-loop-ticks.ts';
import { startGateway } from '../../testkit/gateway.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('the status page', () => {
  it('counts attempts that an upstream answered or failed, not wrong or cancelled requests', () => {
    const verdicts = (
      [
        ['answered', ''],
        ['left', ''],
        ['cut', 'network'],
        ['failed', '503 overloaded'],
        ['timeout', 'timeout'],
        ['refused', '400 request'],
        ['refused', '429 rate'],
        ['refused', ''],
        ['running', ''],
        ['lost', ''],
      ] as const
    ).map(([ending, reason]) => judgeAttempt({ ending, reason }));
    const none = undefined;
    expect(verdicts).to.deep.equal(['answered', none, 'failed', 'failed', 'failed', none, 'failed', none, none, none]);
  });

  it('has shares by hour and day for each model', async () => {
    const now = Date.UTC(2026, 10, 27, 12, 20);
    const hour = now - (now % HOUR_MS);
    const row = (at: number, ending: 'answered' | 'failed', attempts: number): ServiceRow => {
      const name = formatRouteName({ upstream: 'secret-vendor', model: 'm', ending, reason: '' });
      return { ...NO_SERVICE, at, attempts, name };
    };
    const serviceSums = async ({ starts = [] }: ServiceQuery) =>
      starts.length === 24
        ? [row(hour, 'answered', 1), row(hour - HOUR_MS, 'failed', 1), row(hour - 5 * HOUR_MS, 'answered', 2)]
        : [
            row(starts.at(-1) ?? 0, 'answered', 3),
            row(starts.at(-1) ?? 0, 'failed', 1),
            row(starts[0] ?? 0, 'failed', 4),
          ];
    const [found, quiet] = await readStatus({ serviceSums }, ['m', 'other'], now);
    expect([found?.lastHour, found?.day, found?.all]).to.deep.equal([0.5, 0.75, 0.375]);
    expect([found?.hours.length, found?.hours.at(-1), found?.hours.at(-2), found?.hours[0]]).to.deep.equal([
      24,
      1,
      0,
      undefined,
    ]);
    expect([found?.days.length, found?.days.at(-1), found?.days[0]]).to.deep.equal([90, 0.75, 0]);
    expect([quiet?.lastHour, quiet?.all]).to.deep.equal([undefined, undefined]);
  });

  it('is shown to everybody if switched on, without names and counts', async () => {
    const test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', STATUS_PAGE: 'on' } });
    try {
      const account = await test.account();
      const ask = (content: string) =>
        send(`${test.url}/api/v1/chat/completions`, {
          key: account.key,
          body: { model: 'sandbox-lite', messages: [{ role: 'user', content }], max_tokens: 10 },
        });
      for (const content of ['Hi', 'Hi', '[[fail]]']) await ask(content);
      await until(async () => (await test.wallet(account)).held === 0n);
      await foldUsage(test.store, account.id);
      const { status, text } = await send(`${test.url}/status`);
      expect(status).to.equal(200);
      expect(text).to.match(/sandbox-lite<\/td>\s*<td[^>]*class="number">[\d.]+%/);
      expect(text).not.to.contain(account.id).and.not.to.contain('₽');
    } finally {
      await test.stop();
    }
  });

  itTimed('is written once for all who ask within half a minute, in each language', async () => {
    const routes = [{ upstream: 'here', model: 'lite' }];
    const model = { type: 'text', provider: 'Test', routes, price: { input: '1', output: '1' } };
    const models = Array.from({ length: 1500 }, (_, index) => ({ id: `model-${index}`, ...model }));
    const catalog = { upstreams: { here: { plugin: 'sandbox' } }, models };
    const test = await startGateway({ catalog, env: { STATUS_PAGE: 'on' } });
    try {
      const english = await send(`${test.url}/status?lang=en`);
      const russian = await send(`${test.url}/status?lang=ru`);
      expect(english.text).to.contain('model-1499').and.to.contain('Last hour');
      expect(russian.text).to.contain('model-1499').and.to.contain('Последний час');
      const before = cpuMs();
      for (let count = 0; count < 30; count += 1) await send(`${test.url}/status?lang=en`);
      // To write it anew takes more than 30 ms each time.
      expect((cpuMs() - before) / 30).to.be.below(20);
    } finally {
      await test.stop();
    }
  });

  it('is not there otherwise', async () => {
    const test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    try {
      const { status, text } = await send(`${test.url}/status`);
      expect([status, text.includes('This page does not exist.')]).to.deep.equal([404, true]);
    } finally {
      await test.stop();
    }
  });
});
