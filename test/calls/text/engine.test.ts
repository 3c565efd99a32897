import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { GONE } from '../../../lib/calls/context.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';
import { readBase64 } from '../../../lib/media/inline.ts';
import { until } from '../../../testkit/client.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { PNG } from '../../media/sample-images.ts';
import { codeOf, expectCharged, expectReleased, isRefunded, MINIMUM } from './outcome.ts';
import {
  type Answer,
  BALANCE,
  CLOSE,
  cost,
  delta,
  FINISH,
  hang,
  OPEN,
  playing,
  RESERVE,
  START,
  Stage,
  upstreamError,
  usage,
  usageJson,
  whole,
} from './stage.ts';

describe('text engine', () => {
  const stage = new Stage();
  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());
  const failing = (kind: string): Answer => playing([START, usage(9, 9), OPEN], upstreamError(kind));
  const good = whole('Hello', { input: 7, output: 900 });
  const charged = cost({ input: 7, output: 900 });

  describe('what it tells', () => {
    it('says when the first fragment is passed on, and how each attempt ended', async () => {
      const routes = [failing('server'), good];
      const result = await stage.call({ routes });
      expect(result.events).to.deep.equal(['up-0: error', 'released', 'first', 'up-1: finish']);
      const buffered = await stage.call({ routes, delivery: 'buffered' });
      expect(buffered.events).to.deep.equal(['up-0: error', 'released', 'first', 'up-1: finish']);
    });

    it('notes the model also of a call that gets no hold, and why usage is not believed', async () => {
      const poor = await stage.call({ routes: [good], balance: 1n });
      expect([poor.notes, poor.events]).to.deep.equal([{ model: 'model-a' }, []]);
      const silent = await stage.call({ routes: [whole('Hello')] });
      expect(silent.notes).to.include({
        model: 'model-a',
        doubt: 'usage reported as input none, output none',
      });
    });
  });

  describe('money', () => {
    it('holds the reserve while the call runs, and bills what was used', async () => {
      const account = await stage.account();
      let held = 0n;
      const looking: Answer = async function* () {
        held = (await stage.store.ledger.wallet(account))?.held ?? 0n;
        yield [START, OPEN, delta('Hello'), CLOSE, usage(7, 900), FINISH];
      };
      const result = await stage.call({ routes: [looking], account });
      expect(held).to.equal(RESERVE);
      expectCharged(result, charged);
      expect(result.charge).to.include({ reserved: RESERVE, usage: usageJson(7, 900), model: 'model-a' });
      expect(JSON.parse(result.charge?.prices ?? '')).to.deep.equal({ input: '1000000000', output: '5000000000' });
      expect(result.parts.at(-1)).to.deep.equal({
        type: 'billing',
        charged,
        reserved: RESERVE,
        balance: BALANCE - charged,
        priceInput: 1_000_000_000n,
        priceOutput: 5_000_000_000n,
      });
    });

    it('charges the minimum for little', async () => {
      expectCharged(await stage.call({ routes: [whole('Hi', { input: 1, output: 1 })] }), MINIMUM);
    });

    it('charges an answer of output tokens alone', async () => {
      const result = await stage.call({ routes: [playing([START, usage(7, 900), FINISH])] });
      expectCharged(result, charged);
      expect(result.parts.slice(2, 4)).to.deep.equal([OPEN, CLOSE]);
      const collected = await stage.call({ routes: [playing([START, usage(7, 900), FINISH])], live: false });
      expectCharged(collected, charged);
    });

    it('charges input above the estimate, below zero as well, and refuses the next call', async () => {
      const account = await stage.account(RESERVE);
      const result = await stage.call({ routes: [whole('Hi', { input: 20_000, output: 1000 })], account });
      const cost = 20_000n * 1000n + 1000n * 5000n;
      expect(result.charge).to.include({ state: 'settled', charged: cost });
      expect(result.wallet.avail).to.equal(RESERVE - cost);
      expect(result.thrown).to.equal(undefined);
      const next = await stage.call({ routes: [good], account });
      expect(codeOf(next)).to.equal('insufficient_balance');
      expect([next.opened, next.asked, next.charge]).to.deep.equal([0, [], undefined]);
    });

    it('refuses what the balance does not reach, to the micro-rouble', async () => {
      const short = await stage.call({ routes: [good], balance: RESERVE - 1n });
      expect(codeOf(short)).to.equal('insufficient_balance');
      expect((short.thrown as Error).message)
        .to.contain('5.005 RUB')
        .and.to.contain('5.004999 RUB');
      expect([short.opened, short.asked]).to.deep.equal([0, []]);
      expect((await stage.call({ routes: [good], balance: RESERVE })).charge?.charged).to.equal(charged);
    });

    it('refuses an unknown model before anything is held', async () => {
      const result = await stage.call({ routes: [good], request: { model: 'model-b' } });
      expect(codeOf(result)).to.equal('unknown_model');
      expect(result.charge).to.equal(undefined);
    });

    it('lets calls beside each other hold together what the wallet has', async () => {
      const account = await stage.account(RESERVE * 3n);
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const waiting = playing(gate, [START, OPEN, delta('Hello'), CLOSE, usage(7, 900), FINISH]);
      const calls = Array.from({ length: 5 }, () => stage.call({ routes: [waiting], account }));
      let ended = 0;
      for (const call of calls)
        void call.then(() => {
          ended += 1;
        });
      await until(() => ended === 2);
      expect((await stage.store.ledger.wallet(account))?.held).to.equal(RESERVE * 3n);
      release();
      const results = await Promise.all(calls);
      expect(results.filter((result) => codeOf(result) === 'insufficient_balance')).to.have.length(2);
      expect((await stage.store.ledger.wallet(account))?.charged).to.equal(charged * 3n);
    });
  });

  describe('the next route', () => {
    for (const kind of ['auth', 'quota', 'rate', 'overloaded', 'server', 'network', 'timeout', 'protocol']) {
      it(`is asked when one fails by ${kind} before the first fragment`, async () => {
        for (const live of [true, false]) {
          const result = await stage.call({ routes: [failing(kind), good], live });
          expect(result.asked).to.deep.equal([0, 1]);
          expect(result.text).to.equal('Hello');
          expectCharged(result, charged);
        }
      });
    }

    it('is asked whatever the failure was, and knows nothing of the one before', async () => {
      const routes = [
        playing([START, usage(99, 99)]),
        playing([START, OPEN, delta(''), CLOSE, FINISH]),
        playing([{ type: 'nonsense' }]),
        () => undefined,
        playing([START, OPEN, delta('Hello there'), CLOSE, FINISH]),
      ];
      const result = await stage.call({ routes });
      expect(result.asked).to.deep.equal([0, 1, 2, 3, 4]);
      expect(result.parts.filter(({ type }) => type === 'start' || type === 'block-start')).to.have.length(2);
      // Its own counts are missing, those of the first route do not count.
      expectCharged(result, MINIMUM);
      expect(result.charge).to.include({ usage: usageJson(5, 2) });
      expect(result.warnings.filter((fields) => 'upstream' in fields)).to.have.length(4);
      // The client hears of every change.
      expect(result.beats).to.equal(4);
    });

    it('is not asked when the request itself is refused', async () => {
      const result = await stage.call({ routes: [failing('request'), good] });
      expect(result.asked).to.deep.equal([0]);
      expect([codeOf(result), isRefunded(result)]).to.deep.equal(['upstream_refused', true]);
      expectReleased(result);
    });

    it('is not asked when the client has something to mend, and is where the catalog is wrong', async () => {
      for (const about of ['length', 'content', 'image'] as const) {
        const refused = playing([START], Object.assign(upstreamError('request'), { about }));
        const result = await stage.call({ routes: [failing('missing'), refused, good] });
        expect(result.asked).to.deep.equal([0, 1]);
        expectReleased(result);
      }
      expect((await stage.call({ routes: [failing('missing'), good] })).asked).to.deep.equal([0, 1]);
    });

    it('is not asked once a fragment was there, whatever it says', async () => {
      for (const text of ['a', ' ', '\udc00', '\u200b']) {
        const result = await stage.call({
          routes: [playing([START, OPEN, delta(text)], upstreamError('server')), good],
        });
        expect(result.asked).to.deep.equal([0]);
        expect(result.parts.filter(({ type }) => type === 'start')).to.have.length(1);
        expectCharged(result, MINIMUM);
      }
    });

    it('is not asked after the client left', async () => {
      const controller = new AbortController();
      const leaving = playing([START], () => controller.abort(GONE), upstreamError('server'));
      const result = await stage.call({ routes: [leaving, good], controller });
      expect(result.asked).to.deep.equal([0]);
      expectCharged(result, MINIMUM);
    });

    it('is not asked when the service stops', async () => {
      const controller = new AbortController();
      const stopping = playing([START], () => controller.abort(fault('shutting_down')), upstreamError('server'));
      const result = await stage.call({ routes: [stopping, good], controller });
      expect(result.asked).to.deep.equal([0]);
      expect([codeOf(result), isRefunded(result)]).to.deep.equal(['shutting_down', true]);
      expectReleased(result);
    });

    itTimed('has only what is left of the total time, and is not asked after it', async () => {
      const timeouts = { firstTokenTimeoutMs: 60, totalTimeoutMs: 100 };
      const result = await stage.call({ routes: [playing(hang), playing(hang), good], timeouts });
      expect(result.asked).to.deep.equal([0, 1]);
      expect(result.ms).to.be.within(95, 350);
      expect([codeOf(result), isRefunded(result)]).to.deep.equal(['upstream_timeout', true]);
      expectReleased(result);
    });

    itTimed('has what the ones before have left of the total time, not all of it again', async () => {
      const failsLate = playing(() => sleep(1000), upstreamError('server'));
      const timeouts = { firstTokenTimeoutMs: 5000, totalTimeoutMs: 1600 };
      const result = await stage.call({ routes: [failsLate, playing(hang)], timeouts });
      expect(result.asked).to.deep.equal([0, 1]);
      expect(result.ms).to.be.within(1595, 2400);
    });

    it('says the last failure when all fail', async () => {
      const result = await stage.call({ routes: [failing('server'), failing('timeout')] });
      expect(codeOf(result)).to.equal('upstream_timeout');
      expectReleased(result);
    });
  });

  describe('a buffered model', () => {
    const delivery = 'buffered';
    const max = { request: { maxTokens: 600 } };

    it('keeps its stream alive, whatever the upstream has sent', async () => {
      const slow = playing([START, OPEN, delta('Hello')], () => sleep(300), [CLOSE, usage(7, 900), FINISH]);
      const { beats } = await stage.call({ routes: [slow], delivery, timeouts: { heartbeatMs: 20 } });
      expect(beats).to.be.above(2);
      expect((await stage.call({ routes: [slow], timeouts: { heartbeatMs: 20 } })).beats, 'delivered').to.be.above(2);
    });

    it('bills characters and not what the upstream says', async () => {
      const result = await stage.call({
        routes: [whole('x'.repeat(1801), { input: 9999, output: 9999 })],
        delivery,
        ...max,
      });
      // `hi` is one token by characters; messages add nothing.
      expectCharged(result, cost({ input: 1, output: 451 }));
      expect(result.parts.find(({ type }) => type === 'usage')).to.deep.equal(usage(1, 0));
      expect(result.warnings).to.deep.equal([]);
    });

    it('is written when it is there in full, in order', async () => {
      const writes: string[][] = [];
      const onWrite = (parts: readonly { type: string }[]) => void writes.push(parts.map(({ type }) => type));
      await stage.call({ routes: [whole('one two')], delivery, onWrite });
      expect(writes).to.deep.equal([
        ['usage', 'start', 'block-start', 'block-delta', 'block-delta', 'block-end'],
        ['usage', 'finish', 'billing'],
      ]);
    });

    it('charges output beyond the reserve, below zero as well, and refuses the next call', async () => {
      const reserve = cost({ output: 600 });
      const account = await stage.account(reserve);
      const result = await stage.call({ routes: [whole('y'.repeat(40_000))], delivery, account, ...max });
      const wanted = cost({ input: 1, output: 10_000 });
      expect(result.charge).to.include({
        state: 'settled',
        charged: wanted,
        reserved: reserve,
        usage: usageJson(1, 10_000),
      });
      expect(result.wallet.avail).to.equal(reserve - wanted);
      expect(result.parts.at(-1)).to.include({ charged: wanted, reserved: reserve, balance: reserve - wanted });
      const entries = await stage.store.ledger.listChargeEntries(result.charge?.id ?? '');
      expect(entries.at(-1)?.overshoot).to.equal(wanted - reserve);
      const next = await stage.call({ routes: [good], delivery, account, ...max });
      expect(codeOf(next)).to.equal('insufficient_balance');
      expect((next.thrown as Error).message).to.contain('balance is -');
    });

    it('is refunded when it breaks off, since nothing of it was delivered', async () => {
      for (const live of [true, false]) {
        const broken = playing([START, OPEN, delta('half')], upstreamError('server'));
        const result = await stage.call({ routes: [broken], delivery, live });
        expect([result.text, codeOf(result), isRefunded(result)]).to.deep.equal(['', 'upstream_failed', true]);
        expectReleased(result);
      }
    });

    it('is charged for what was produced when the client leaves', async () => {
      const controller = new AbortController();
      const answer = playing([START, OPEN, delta('z'.repeat(2000))], () => controller.abort(GONE), hang);
      const result = await stage.call({ routes: [answer], delivery, controller });
      expectCharged(result, cost({ input: 1, output: 500 }));
      expect(result.parts).to.deep.equal([]);
    });
  });

  describe('a call with images', () => {
    const request = { images: 1 };

    it('is delivered and counted as by the model that looks at them, and charged by the one that was asked', async () => {
      const result = await stage.call({ routes: [good], vision: 'buffered', request });
      expect(result.charge).to.include({ model: 'model-a' });
      expect(result.charge?.usage).to.equal(usageJson(1001, 2, { model_answered: 'sight' }));
      const live = await stage.call({ routes: [good], vision: 'stream', delivery: 'buffered', request });
      expect(live.events.slice(0, 2)).to.deep.equal(['released', 'first']);
    });

    it('lets go of them at the first text', async () => {
      let held = 1;
      const giveBack = () => {
        held = 0;
      };
      const budget = { takePart: () => giveBack };
      const source = readBase64(PNG.toString('base64'), { field: 'x', budget });
      const messages: TextRequest['messages'] = [{ role: 'user', content: [{ type: 'image', field: 'x', source }] }];
      const seen: number[] = [];
      const look = () => void seen.push(held);
      const answer = playing(look, [START, OPEN], look, [delta('a')], look, [CLOSE, FINISH]);
      await stage.call({ routes: [answer], vision: 'stream', request: { images: 1, messages } });
      expect(seen).to.deep.equal([1, 1, 0]);
    });

    it('says that nobody can look at them, unless the client can mend that, or has something of the answer', async () => {
      const failed = await stage.call({ routes: [failing('server')], vision: 'stream', live: false, request });
      expect(codeOf(failed)).to.equal('vision_unavailable');
      const refused = await stage.call({ routes: [failing('request')], vision: 'stream', live: false, request });
      expect(codeOf(refused)).to.equal('upstream_refused');
      const begun = playing([START, OPEN, delta('a')], upstreamError('server'));
      const broken = await stage.call({ routes: [begun], vision: 'stream', live: false, request });
      expect(codeOf(broken)).to.equal('upstream_failed');
      const blind = await stage.call({ routes: [failing('server')], live: false });
      expect(codeOf(blind)).to.equal('upstream_failed');
    });
  });

  it('lets so many calls of tools pass as the request allows, and none where the model has no tools', async () => {
    const calls = [0, 1].flatMap((index): unknown[] => [
      { type: 'block-start', index, block: { type: 'tool', id: `call_${index}`, name: 'find' } },
      { type: 'block-delta', index, text: '{"a":1}' },
      { type: 'block-end', index },
    ]);
    const answer = playing([START, ...calls, { type: 'finish', reason: 'tool' }]);
    const callsOf = async (tools: boolean, single: boolean) => {
      const asked = { list: [{ name: 'find' }], choice: 'auto', single, text: 'find' };
      const { parts } = await stage.call({ routes: [answer], tools, request: { tools: asked } as never });
      return parts.flatMap((part) =>
        part.type === 'block-start' && part.block.type === 'tool' ? [part.block.id] : [],
      );
    };
    expect(await callsOf(true, false)).to.deep.equal(['call_0', 'call_1']);
    expect(await callsOf(true, true)).to.deep.equal(['call_0']);
    expect(await callsOf(false, false)).to.deep.equal([]);
  });

  it('returns the hold when the output cannot be opened', async () => {
    const boom = () => {
      throw new Error('no output');
    };
    const unopened = await stage.call({ routes: [good], onOpen: boom });
    expect(unopened.asked).to.deep.equal([]);
    expectReleased(unopened);
  });

  it('notes what became of a call for its log line', async () => {
    const done = await stage.call({ routes: [good] });
    expect(done.notes).to.deep.equal({
      model: 'model-a',
      ending: 'finish',
      charged_micro: '4507000',
      tokens_input: 7,
      tokens_output: 900,
    });
    const failed = await stage.call({ routes: [failing('server')] });
    expect(failed.notes).to.deep.include({ ending: 'error', fault: 'upstream_failed', charged_micro: '0' });
  });
});
