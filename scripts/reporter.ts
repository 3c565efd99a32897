// Mocha's spec reporter with a closing line of totals.
import Mocha from 'mocha';

export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      process.stdout.write(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`);
    });
  }
}
