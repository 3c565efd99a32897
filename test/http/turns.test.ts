import { mock } from 'node:test';
import { expect } from 'chai';
import {
  BYTES_PER_TURN,
  createTurns,
  PIPELINED_PER_REST,
  PIPELINED_REST_MS,
  PIPELINED_RESTS_MAX,
  READ_MS_PER_TURN,
  REQUESTS_PER_TURN,
} from '../../lib/http/turns.ts';
import { until } from '../../testkit/client.ts';
import { itTimed } from '../../testkit/timed.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  itTimed(
    'lets so many requests begin in a turn, the others in those that follow, first come, first served',
    async () => {
      const turns = createTurns();
      const begun: number[] = [];
      const begin = (id: number) => {
        if (turns.begin(() => begin(id), true)) begun.push(id);
      };
      const ids = Array.from({ length: 2.5 * REQUESTS_PER_TURN }, (_, id) => id);
      for (const id of ids) begin(id);
      const counts = [begun.length];
      for (let count = 0; count < 3; count += 1) {
        await turn();
        counts.push(begun.length);
      }
      expect(counts).to.deep.equal([1, 2, 2.5, 2.5].map((times) => times * REQUESTS_PER_TURN));
      expect(begun).to.deep.equal(ids);
    },
  );

  it('begins anew in each turn, whoever asked in the one before', async () => {
    const turns = createTurns();
    for (let round = 0; round < 3; round += 1) {
      const answers = Array.from({ length: REQUESTS_PER_TURN }, () => turns.begin(() => undefined, true));
      expect(answers).to.not.include(false);
      expect(turns.begin(() => undefined, true)).to.equal(false);
      await turn();
    }
  });

  it('lets a newcomer begin in the next turn, however many others pipeline, and these go on in order', async () => {
    const turns = createTurns();
    const begun: string[] = [];
    /** Begins as many as it may, as a connection with many requests at hand does. */
    const pipeline = (id: string, left: { count: number }): void => {
      while (left.count > 0) {
        if (!turns.begin(() => pipeline(id, left), left.count === 17)) return;
        left.count -= 1;
        begun.push(id);
      }
    };
    for (let id = 0; id < 3 * REQUESTS_PER_TURN; id += 1) pipeline(`${id}`, { count: 17 });
    // Until each has begun one.
    for (let count = 0; count < 8; count += 1) await turn();
    const newcomer = () => void (turns.begin(newcomer, true) && begun.push('newcomer'));
    const before = begun.length;
    newcomer();
    await turn();
    await turn();
    const at = begun.indexOf('newcomer');
    expect(at).to.be.within(before, before + REQUESTS_PER_TURN);
    await until(() => begun.length === 3 * REQUESTS_PER_TURN * 17 + 1, 5000);
  });

  itTimed('lets only a few that are pipelined begin before all of them rest, but all that are not', async () => {
    const turns = createTurns();
    const begun: string[] = [];
    const begin = (what: string, isFirst: boolean) => {
      if (turns.begin(() => begin(what, isFirst), isFirst)) begun.push(what);
    };
    const startedAt = performance.now();
    // A turn on a busy machine may take as long as a rest, whose timer may be a millisecond early.
    const rests = () => Math.floor((performance.now() - startedAt + 1) / PIPELINED_REST_MS);
    const pipelined = () => begun.filter((what) => what === 'next').length;
    for (let count = 0; count < 3 * PIPELINED_PER_REST; count += 1) begin('next', false);
    expect(begun).to.have.length(PIPELINED_PER_REST);
    begin('first', true);
    await turn();
    await turn();
    expect(begun).to.include('first');
    for (; pipelined() < 3 * PIPELINED_PER_REST; await turn()) {
      const most = PIPELINED_PER_REST * (1 + rests());
      expect(pipelined()).to.be.at.most(most);
    }
  });

  itTimed('lets pipelined ones rest for longer while others begin, but not for ever', async () => {
    const turns = createTurns();
    const rest = async (isBusy: boolean): Promise<number> => {
      for (let count = 0; count < PIPELINED_PER_REST; count += 1) turns.begin(() => undefined, false);
      let begunAt = 0;
      const again = (): void => {
        if (turns.begin(again, false)) begunAt = performance.now();
      };
      const from = performance.now();
      again();
      while (begunAt === 0) {
        if (isBusy) turns.begin(() => undefined, true);
        await turn();
      }
      await new Promise((resolve) => setTimeout(resolve, PIPELINED_RESTS_MAX * PIPELINED_REST_MS));
      return begunAt - from;
    };
    const times = { idle: [] as number[], busy: [] as number[] };
    const isLate = () => Math.min(...times.idle) >= PIPELINED_RESTS_MAX * (PIPELINED_REST_MS - 1);
    for (let round = 0; round < 3 || (round < 50 && isLate()); round += 1) {
      times.idle.push(await rest(false));
      times.busy.push(await rest(true));
    }
    // A timer may fire a millisecond early; a busy machine only makes them late.
    expect(Math.min(...times.busy)).to.be.at.least(PIPELINED_RESTS_MAX * (PIPELINED_REST_MS - 1));
    expect(Math.min(...times.idle)).to.be.below(PIPELINED_RESTS_MAX * (PIPELINED_REST_MS - 1));
  });

  itTimed('lets no pipelined one pass those that wait', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const turns = createTurns();
      const begun: string[] = [];
      const begin = (who: string) => void (turns.begin(() => begin(who), false) && begun.push(who));
      for (let count = 0; count < PIPELINED_PER_REST; count += 1) begin('first');
      begin('waiting');
      await turn();
      mock.timers.tick(PIPELINED_REST_MS);
      begin('newcomer');
      await turn();
      expect(begun.slice(PIPELINED_PER_REST)).to.deep.equal(['waiting', 'newcomer']);
    } finally {
      mock.timers.reset();
    }
  });

  it('passes over those that need no turn any more', async () => {
    const turns = createTurns();
    for (let count = 0; count < REQUESTS_PER_TURN; count += 1) turns.begin(() => undefined, true);
    const called: string[] = [];
    for (let count = 0; count < 2 * REQUESTS_PER_TURN; count += 1) turns.begin(() => void called.push('gone'), true);
    turns.begin(() => void called.push('last'), true);
    await turn();
    expect(called).to.have.length(2 * REQUESTS_PER_TURN + 1);
    expect(called.at(-1)).to.equal('last');
  });

  itTimed(
    'lets so many bytes be read in a turn, whoever reads them, and all go on after a rest of the loop',
    async () => {
      const turns = createTurns();
      const called: string[] = [];
      const read = (bytes: number, who: string) => turns.read(bytes, 0, () => void called.push(who));
      for (let round = 0; round < 3; round += 1) {
        expect(read(BYTES_PER_TURN / 2, 'one')).to.equal(true);
        expect(read(BYTES_PER_TURN / 2, 'other')).to.equal(false);
        expect(read(1, 'third')).to.equal(false);
        await turn();
        expect(called).to.deep.equal([]);
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(called.splice(0)).to.deep.equal(['other', 'third']);
      }
    },
  );

  itTimed('counts the time that reading took, and then lets readers rest for several times as long', async () => {
    const turns = createTurns();
    const tookMs = 20;
    let calledAt = 0;
    const read = (ms: number) =>
      turns.read(1, ms, () => {
        calledAt = performance.now();
      });
    expect(read(READ_MS_PER_TURN / 2)).to.equal(true);
    expect(read(tookMs)).to.equal(false);
    const from = performance.now();
    await until(() => calledAt > 0);
    expect(calledAt - from).to.be.at.least(8 * tookMs);
    expect(read(READ_MS_PER_TURN / 2)).to.equal(true);
  });
});
