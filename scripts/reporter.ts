// Mocha's spec reporter with a closing line of totals; `--reporter-option slowest=20` lists the slowest files before it.
import { relative } from 'node:path';
import Mocha from 'mocha';

const { EVENT_HOOK_END, EVENT_RUN_END, EVENT_TEST_END } = Mocha.Runner.constants;

export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const times = new Map<string, number>();
    const count = ({ file, duration = 0 }: Mocha.Runnable) => {
      if (file === undefined) return;
      const path = relative('', file);
      times.set(path, (times.get(path) ?? 0) + duration);
    };
    runner.on(EVENT_TEST_END, count).on(EVENT_HOOK_END, count);
    runner.once(EVENT_RUN_END, () => {
      const { slowest } = options.reporterOptions ?? {};
      if (slowest !== undefined) process.stdout.write(formatTable(times, Number(slowest)));
      const { passes, failures, pending } = this.stats;
      process.stdout.write(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`);
    });
  }
}

function formatTable(times: ReadonlyMap<string, number>, length: number): string {
  const rows = [...times].sort(([, a], [, b]) => b - a).slice(0, length);
  return rows.map(([path, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${path}\n`).join('');
}
