import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { GONE } from '../../../lib/calls/context.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { codeOf, expectCharged, expectReleased, isRefunded, MINIMUM } from './outcome.ts';
import { CLOSE, cost, delta, FINISH, hang, OPEN, playing, START, Stage, usage, whole } from './stage.ts';

describe('a call that is ended', () => {
  const stage = new Stage();
  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());

  const good = whole('Hello', { input: 7, output: 900 });
  const charged = cost({ input: 7, output: 900 });

  describe('by a client that leaves', () => {
    const leave = (controller: AbortController) => () => controller.abort(GONE);

    it('before the call pays nothing and holds nothing', async () => {
      const controller = new AbortController();
      controller.abort(GONE);
      const result = await stage.call({ routes: [good], controller });
      expect([result.thrown, result.opened, result.asked]).to.deep.equal([GONE, 0, []]);
      expect(result.charge).to.equal(undefined);
    });

    it('while the hold is made pays nothing', async () => {
      const controller = new AbortController();
      const result = await stage.call({ routes: [good], controller, onHold: () => controller.abort(GONE) });
      expect([result.thrown, result.asked]).to.deep.equal([undefined, []]);
      expectReleased(result);
    });

    it('when the answer is opened pays nothing', async () => {
      const controller = new AbortController();
      const result = await stage.call({ routes: [good], controller, onOpen: leave(controller) });
      expect(result.asked).to.deep.equal([]);
      expectReleased(result);
    });

    it('bills nobody before all who left together have their upstreams aborted', async () => {
      const order: string[] = [];
      const { ledger } = stage.store;
      const { apply } = ledger;
      Object.assign(ledger, {
        apply: (batch: Parameters<typeof apply>[0]) => {
          for (const { kind } of batch) if (kind === 'settle') order.push('bill');
          return apply.call(ledger, batch);
        },
      });
      const asking = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const controllers = asking.map(() => new AbortController());
      const running = asking.map(({ resolve }, at) => {
        const wait = (signal: AbortSignal) => {
          signal.addEventListener('abort', () => order.push('abort'));
          resolve();
          return hang();
        };
        return stage.call({ routes: [playing(wait)], controller: controllers[at] as AbortController });
      });
      await Promise.all(asking.map(({ promise }) => promise));
      controllers[0]?.abort(GONE);
      // What the first one sets off goes on as far as it can meanwhile.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      controllers[1]?.abort(GONE);
      await Promise.all(running);
      Object.assign(ledger, { apply });
      expect(order).to.deep.equal(['abort', 'abort', 'bill', 'bill']);
    });

    it('before the first fragment pays the minimum', async () => {
      for (const live of [true, false]) {
        const controller = new AbortController();
        const result = await stage.call({ routes: [playing([START], leave(controller), hang)], controller, live });
        expect([result.thrown, result.parts, result.ended]).to.deep.equal([undefined, [], 0]);
        expectCharged(result, MINIMUM);
      }
    });

    it('before the first fragment pays the input that is known', async () => {
      const controller = new AbortController();
      const answer = playing([START, usage(4000, 0)], leave(controller), hang);
      expectCharged(await stage.call({ routes: [answer], controller }), cost({ input: 4000, output: 0 }));
    });

    it('in mid-stream pays what was produced', async () => {
      for (const live of [true, false]) {
        const controller = new AbortController();
        const answer = playing([START, OPEN, delta(' word'.repeat(500))], leave(controller), hang);
        const result = await stage.call({ routes: [answer], controller, live });
        expectCharged(result, cost({ output: 500 }));
        expect(result.parts.some(({ type }) => type === 'error' || type === 'billing')).to.equal(false);
        expect(result.ended).to.equal(0);
      }
    });

    it('while it is slow pays what was produced', async () => {
      const controller = new AbortController();
      const answer = playing([START, OPEN, delta(' word'.repeat(500))], [delta('never')]);
      const onWrite = () => {
        setTimeout(leave(controller), 30);
        return hang();
      };
      expectCharged(await stage.call({ routes: [answer], controller, onWrite }), cost({ output: 500 }));
    });

    it('after the finish pays the usage, also when its text looks like more', async () => {
      for (const text of ['Hello', 'z'.repeat(4000)]) {
        const controller = new AbortController();
        const answer = playing([START, OPEN, delta(text), CLOSE, FINISH, usage(7, 900)], leave(controller), hang);
        expectCharged(await stage.call({ routes: [answer], controller }), charged);
      }
    });

    itTimed('frees the call at once, whatever the upstream does', async () => {
      const controller = new AbortController();
      let leftAt = 0;
      const leaveSoon = () => {
        setTimeout(() => {
          leftAt = performance.now();
          leave(controller)();
        }, 30);
        return hang();
      };
      const result = await stage.call({ routes: [playing([START], leaveSoon)], controller });
      expect(performance.now() - leftAt).to.be.below(250);
      expectCharged(result, MINIMUM);
    });
  });

  describe('by a service that stops', () => {
    const stop = (controller: AbortController) => () => controller.abort(fault('shutting_down'));

    it('refunds before the first fragment', async () => {
      for (const live of [true, false]) {
        const controller = new AbortController();
        const answer = playing([START, usage(4000, 0)], stop(controller), hang);
        const result = await stage.call({ routes: [answer], controller, live });
        expect([codeOf(result), isRefunded(result)]).to.deep.equal(['shutting_down', true]);
        expectReleased(result);
      }
    });

    it('refunds while the hold is made', async () => {
      const controller = new AbortController();
      const result = await stage.call({ routes: [good], controller, onHold: stop(controller) });
      expect([codeOf(result), isRefunded(result), result.asked]).to.deep.equal(['shutting_down', true, []]);
      expectReleased(result);
    });

    it('keeps the charge of what was delivered', async () => {
      const controller = new AbortController();
      const answer = playing([START, OPEN, delta(' word'.repeat(500))], stop(controller), hang);
      const result = await stage.call({ routes: [answer], controller });
      expect([codeOf(result), isRefunded(result), result.ended]).to.deep.equal(['shutting_down', false, 1]);
      expectCharged(result, cost({ output: 500 }));
    });

    it('brings an answer to its end that had its terminal signal', async () => {
      for (const live of [true, false]) {
        const controller = new AbortController();
        const answer = playing([START, OPEN, delta('Hello'), CLOSE, FINISH, usage(7, 900)], stop(controller), hang);
        const result = await stage.call({ routes: [answer], controller, live });
        expect([result.thrown, result.parts.at(-1)?.type, result.ended]).to.deep.equal([undefined, 'billing', 1]);
        expectCharged(result, charged);
      }
    });

    it('refunds a reply that was collected and not delivered', async () => {
      const controller = new AbortController();
      const answer = playing([START, OPEN, delta(' word'.repeat(500))], stop(controller), hang);
      const result = await stage.call({ routes: [answer], controller, live: false });
      expect([codeOf(result), isRefunded(result)]).to.deep.equal(['shutting_down', true]);
      expectReleased(result);
    });

    it('refuses a call that comes after', async () => {
      const controller = new AbortController();
      stop(controller)();
      const result = await stage.call({ routes: [good], controller });
      expect(codeOf(result)).to.equal('shutting_down');
      expect(result.charge).to.equal(undefined);
    });
  });
});
