// Killed with -9 in the middle of its streams, the service loses nothing: `npm run crash` does many more rounds.
import { expect } from 'chai';
import { openCrashRig, type Round } from '../../testkit/crash.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';

const ROUNDS = longer(1, 4);
/** With room for a busy machine: an idle one takes a fortieth. */
const READY_MS_MAX = 30_000;

for (const kind of longer([SQLITE], STORES)) {
  describe(`crash on ${kind.name}`, () => {
    it('keeps every charge that a client was told, returns every hold, and recovers at once', async function () {
      this.timeout(120_000);
      const database = await kind.create();
      const rig = await openCrashRig(database.url);
      const rounds: Round[] = [];
      while (rounds.length < ROUNDS) rounds.push(await rig.round());
      await rig.close();
      await database.remove();
      const sum = (pick: (round: Round) => number) => rounds.reduce((total, round) => total + pick(round), 0);
      expect(rounds.flatMap(({ problems }) => problems)).to.deep.equal([]);
      expect(sum(({ lost }) => lost)).to.equal(0);
      // The rounds were worth something: charges told before the kill, holds left by it.
      expect(sum(({ told }) => told)).to.be.above(rounds.length);
      expect(sum(({ orphans }) => orphans)).to.be.above(rounds.length);
      const ready = rounds.map(({ readyMs }) => readyMs).sort((a, b) => a - b);
      expect(ready[Math.floor((ready.length - 1) / 2)]).to.be.below(READY_MS_MAX);
    });
  });
}
