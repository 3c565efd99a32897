// What an answer with strings to stop at comes to: its text, why it ended, what is asked of the upstream, what it costs.
import { expect } from 'chai';
import type { StreamPart } from '../../lib/stream/part.ts';
import { Stops } from '../../lib/stream/stops.ts';
import {
  BALANCE,
  CLOSE,
  cost,
  delta,
  FINISH,
  hang,
  OPEN,
  playing,
  START,
  Stage,
  upstreamError,
  usage,
  usageJson,
  whole,
} from '../calls/text/stage.ts';

const textOf = (parts: readonly StreamPart[]) => parts.map((part) => (part.type === 'block-delta' ? part.text : ''));

describe('stops', () => {
  it('hands a fragment on as it is while nothing is held back', () => {
    const stops = new Stops({ strings: ['END'] });
    const fragment = delta('one');
    expect(stops.push([START, OPEN, fragment])[2]).to.equal(fragment);
  });

  it('passes what was held back before the end of its block', () => {
    const stops = new Stops({ strings: ['END'] });
    expect(stops.push([OPEN, delta('one E')])).to.deep.equal([OPEN, delta('one ')]);
    expect(stops.push([usage(1, 2), CLOSE, FINISH])).to.deep.equal([usage(1, 2), delta('E'), CLOSE, FINISH]);
    expect(stops.matched).to.equal(undefined);
  });

  it('ends the block at a match, and passes nothing more', () => {
    const stops = new Stops({ strings: ['END'] });
    expect(stops.push([OPEN, delta('one E'), delta('ND two'), delta('x'), CLOSE, FINISH])).to.deep.equal([
      OPEN,
      delta('one '),
      CLOSE,
      { type: 'finish', reason: 'stop', sequence: 'END' },
    ]);
    expect(stops.matched).to.equal('END');
  });

  it('decides at the end of a block between a match and a longer one', () => {
    const stops = new Stops({ strings: ['ab', 'abc'] });
    expect(textOf(stops.push([OPEN, delta('xab')]))).to.deep.equal(['', 'x']);
    expect(stops.push([CLOSE, FINISH])).to.deep.equal([CLOSE, { type: 'finish', reason: 'stop', sequence: 'ab' }]);
    expect(stops.matched).to.equal('ab');
  });

  it('leaves the arguments of a call of a tool alone', () => {
    const stops = new Stops({ strings: ['STOP'] });
    const call = { type: 'block-start', index: 1, block: { type: 'tool', id: 'call_1', name: 'find' } } as const;
    const json = { type: 'block-delta', index: 1, text: '{"word":"STOP"}' } as const;
    const parts = [OPEN, delta('one S'), CLOSE, call, json, { type: 'block-end', index: 1 } as const];
    expect(textOf(stops.push(parts)).join('')).to.equal('one S{"word":"STOP"}');
    expect(stops.matched).to.equal(undefined);
  });

  it('does not match from one block into the next', () => {
    const stops = new Stops({ strings: ['ab'] });
    const next = { ...OPEN, index: 1 } as StreamPart;
    const passed = stops.push([OPEN, delta('xa'), CLOSE, next, { type: 'block-delta', index: 1, text: 'b' }]);
    expect(textOf(passed).join('')).to.equal('xab');
    expect(stops.matched).to.equal(undefined);
  });
});

describe('a text call that stops at strings', () => {
  const stage = new Stage();

  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());

  const endOf = (parts: readonly StreamPart[]) => parts.find(({ type }) => type === 'finish');

  for (const live of [true, false]) {
    const how = live ? 'a stream' : 'a reply';

    it(`ends ${how} before the match, closes the upstream and charges what it produced`, async () => {
      let upstream: AbortSignal | undefined;
      const answer = playing(
        (signal: AbortSignal) => {
          upstream = signal;
        },
        // What is counted at the start is never the output.
        [START, usage(7, 1), OPEN, delta('one tw')],
        [delta('o ST')],
        [delta('OP three')],
        hang,
      );
      // It is read on for its counts for five seconds, or until it is silent for too long.
      const timeouts = live ? {} : { idleTimeoutMs: 300 };
      const startedAt = performance.now();
      const call = await stage.call({ routes: [answer], live, request: { stops: ['STOP'] }, timeouts });
      expect(performance.now() - startedAt).to.be.within(live ? 4_900 : 290, live ? 15_000 : 4_900);
      expect(call.text).to.equal('one two ');
      expect(endOf(call.parts)).to.deep.equal({ type: 'finish', reason: 'stop', sequence: 'STOP' });
      expect(upstream?.aborted).to.equal(true);
      // 18 characters were produced: what was cut off is paid for too.
      expect(call.charge?.usage).to.equal(usageJson(7, 5));
      expect(call.wallet.avail).to.equal(BALANCE - cost({ input: 7, output: 5 }));
      expect([call.ended, call.thrown, call.warnings]).to.deep.equal([1, undefined, []]);
    });

    it(`delivers what was held back to ${how} when no match comes`, async () => {
      const call = await stage.call({
        routes: [whole('one two ST', { input: 7, output: 40 })],
        live,
        request: { stops: ['STOP'] },
      });
      expect(call.text).to.equal('one two ST');
      expect(endOf(call.parts)).to.deep.equal(FINISH);
      expect(call.charge?.usage).to.equal(usageJson(7, 40));
    });

    it(`answers ${how} without text where the match is the first of it`, async () => {
      const call = await stage.call({ routes: [whole('STOP it')], live, request: { stops: ['STOP'] } });
      expect(call.text).to.equal('');
      const types = call.parts.map(({ type }) => type);
      expect(types).to.deep.equal(['usage', 'start', 'block-start', 'block-end', 'usage', 'finish', 'billing']);
      expect(call.charge?.charged).to.equal(500_000n);
    });

    it(`counts a match of ${how} for more than the failure that comes with it`, async () => {
      const broken = playing([START, OPEN, delta('one STOP')], upstreamError('server'));
      const call = await stage.call({ routes: [broken], live, request: { stops: ['STOP', 'STOPS'] } });
      expect(call.text).to.equal('one ');
      expect(endOf(call.parts)).to.deep.include({ sequence: 'STOP' });
      expect(call.thrown).to.equal(undefined);
    });

    it(`ends the block of ${how} where the match is all of it and a failure comes with it`, async () => {
      const broken = playing([START, OPEN, delta('STOP')], upstreamError('server'));
      const call = await stage.call({ routes: [broken], live, request: { stops: ['STOP', 'STOPS'] } });
      const types = call.parts.map(({ type }) => type);
      expect(types).to.deep.equal(['usage', 'start', 'block-start', 'block-end', 'usage', 'finish', 'billing']);
    });
  }

  it('misses no counts that would have come after the match', async () => {
    const call = await stage.call({
      routes: [playing([START, OPEN, delta('one STOP')])],
      request: { stops: ['STOP'] },
    });
    expect([call.charge?.usage, call.warnings]).to.deep.equal([usageJson(5, 3), []]);
    expect(call.notes).not.to.have.property('doubt');
  });

  it('charges what the upstream reports, where that is more', async () => {
    const call = await stage.call({
      routes: [playing([START, OPEN, delta('one STOP'), CLOSE, usage(9, 300), FINISH])],
      request: { stops: ['STOP'] },
    });
    expect(call.charge?.usage).to.equal(usageJson(9, 300));
  });

  it('delivers what was held back before an upstream failed, after a first fragment', async () => {
    const call = await stage.call({
      routes: [playing([START, OPEN, delta('one ST')], upstreamError('server'))],
      request: { stops: ['STOP'] },
    });
    expect(call.text).to.equal('one ST');
    expect(call.parts.at(-1)?.type).to.equal('error');
    expect(call.charge?.state).to.equal('settled');
  });

  it('delivers nothing and returns the hold when all was held back before an upstream failed', async () => {
    const call = await stage.call({
      routes: [playing([START, OPEN, delta('ST')], upstreamError('server'))],
      request: { stops: ['STOP'] },
    });
    expect(call.text).to.equal('');
    expect(call.parts.map(({ type }) => type)).to.deep.equal(['error']);
    expect(call.charge?.state).to.equal('released');
  });

  it('begins anew with another route', async () => {
    const failing = playing([START, OPEN], upstreamError('server'));
    const call = await stage.call({
      routes: [failing, whole('two STOP')],
      request: { stops: ['STOP'] },
    });
    expect([call.text, call.asked]).to.deep.equal(['two ', [0, 1]]);
  });

  it('keeps a stream alive while all of the text is held back', async () => {
    // Its clock begins when the first part is held back.
    const silence = () => new Promise((resolve) => setTimeout(resolve, 100));
    const call = await stage.call({
      routes: [playing([START, OPEN, delta('ST')], silence, [delta('ART'), CLOSE, FINISH])],
      request: { stops: ['STOP'] },
      timeouts: { heartbeatMs: 5 },
    });
    expect(call.beats).to.be.above(0);
    expect(call.text).to.equal('START');
  });

  it('charges a client who leaves while it runs for what was produced', async () => {
    const controller = new AbortController();
    const { GONE } = await import('../../lib/calls/context.ts');
    const call = await stage.call({
      routes: [
        playing([START, OPEN, delta('x'.repeat(4000))], () => {
          controller.abort(GONE);
          return hang();
        }),
      ],
      request: { stops: ['STOP'] },
      controller,
    });
    expect(call.charge?.usage).to.equal(usageJson(5, 1000, { ended: 'gone' }));
  });

  it('stops a buffered model too', async () => {
    const call = await stage.call({
      routes: [whole('one two STOP')],
      delivery: 'buffered',
      request: { stops: ['two'] },
    });
    expect(call.text).to.equal('one ');
    expect(endOf(call.parts)).to.deep.include({ sequence: 'two' });
  });
});
