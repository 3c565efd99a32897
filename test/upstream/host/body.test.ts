// What reading the body of an upstream's reply as a whole takes.
import { expect } from 'chai';
import type { AnswerMemory } from '../../../lib/stream/answer-memory.ts';
import type { ByteTaker } from '../../../lib/stream/bytes.ts';
import { UpstreamBody } from '../../../lib/upstream/host/body.ts';
import { nameUpstream, PluginRun, runPlugin } from '../../../lib/upstream/host/plugin-run.ts';
import { until } from '../../../testkit/client.ts';
import { collectGarbage } from '../../../testkit/garbage.ts';

describe('body of a reply', () => {
  it('keeps no chunks of what it reads as a whole', async () => {
    const opened = Promise.withResolvers<ByteTaker>();
    const source = { open: opened.resolve, pause() {}, resume() {}, destroy() {} };
    const body = new UpstreamBody({
      source,
      signal: new AbortController().signal,
      toError: (error) => error,
      secrets: [],
    });
    const text = body.text();
    const taker = await opened.promise;
    const send = (part: string) => {
      const chunk = new TextEncoder().encode(part);
      taker.data(chunk);
      return new WeakRef(chunk);
    };
    const first = send('a');
    await new Promise((resolve) => setImmediate(resolve));
    send('b');
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(first.deref()).to.equal(undefined);
    taker.end();
    expect(await text).to.equal('ab');
  });

  it('is read as a whole no further than there is memory for it', async () => {
    const opened = Promise.withResolvers<ByteTaker>();
    let isPaused = false;
    const source = {
      open: opened.resolve,
      pause: () => {
        isPaused = true;
      },
      resume: () => {
        isPaused = false;
      },
      destroy() {},
    };
    const { signal } = new AbortController();
    const body = new UpstreamBody({ source, signal, toError: (error) => error, secrets: [] });
    const room = Promise.withResolvers<void>();
    const noted: number[] = [];
    const memory = { noteEvent: (bytes: number) => void noted.push(bytes), waitForRoom: () => room.promise };
    const run = new PluginRun(nameUpstream('up'));
    run.memory = memory as unknown as AnswerMemory;
    const reading = runPlugin(run, () => body.text());
    const taker = await opened.promise;
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    taker.data(new Uint8Array([65]));
    await turn();
    taker.data(new Uint8Array([66]));
    await turn();
    expect([noted, isPaused]).to.deep.equal([[1], true]);
    room.resolve();
    await turn();
    expect([noted, isPaused]).to.deep.equal([[1, 2], false]);
    taker.end();
    expect(await reading).to.equal('AB');
  });

  it('fails, and closes its connection, if there never is memory for it', async () => {
    const opened = Promise.withResolvers<ByteTaker>();
    let isClosed = false;
    const source = {
      open: opened.resolve,
      pause() {},
      resume() {},
      destroy: () => {
        isClosed = true;
      },
    };
    const { signal } = new AbortController();
    const body = new UpstreamBody({ source, signal, toError: (error) => error, secrets: [] });
    const run = new PluginRun(nameUpstream('up'));
    const waitForRoom = () => Promise.reject(new Error('no room'));
    run.memory = { noteEvent() {}, waitForRoom } as unknown as AnswerMemory;
    const failure = runPlugin(run, () => body.text()).catch((error: Error) => error.message);
    (await opened.promise).data(new Uint8Array([65]));
    expect(await failure).to.equal('no room');
    await until(() => isClosed);
  });
});

/** A reply that sends these parts, then ends, breaks off, or is silent. */
function bodyOf(parts: readonly string[], then: 'end' | 'break' | 'silence' = 'end', secrets: readonly string[] = []) {
  const seen = { closed: 0 };
  let taker: ByteTaker | undefined;
  const source = {
    open(given: ByteTaker) {
      taker = given;
      for (const part of parts) taker.data(new TextEncoder().encode(part));
      if (then === 'end') taker.end();
      if (then === 'break') taker.fail(new Error('broken'));
    },
    pause() {},
    resume() {},
    destroy() {
      seen.closed += 1;
      taker?.fail(new Error('closed'));
    },
  };
  const toError = ({ message }: Error) => new Error(`told: ${message}`);
  const { signal } = new AbortController();
  return { body: new UpstreamBody({ source, signal, toError, secrets }), source, seen };
}

const messageOf = (reading: Promise<unknown>) => reading.then(JSON.stringify, (error: Error) => error.message);

describe('ways to read a reply', () => {
  it('takes as many bytes as the limit says, and closes the connection above it', async () => {
    expect(await bodyOf(['ab', 'c']).body.text(3)).to.equal('abc');
    const { body, seen } = bodyOf(['ab', 'cd'], 'silence');
    expect(await messageOf(body.text(3))).to.equal('protocol: the answer is longer than 3 bytes');
    expect(seen.closed).to.be.above(0);
  });

  it('fails where the reply breaks off, and tells who watches', async () => {
    for (const read of ['text', 'bytes', 'json', 'chunks'] as const) {
      const { body } = bodyOf(['{'], 'break');
      const lost: string[] = [];
      body.watch(({ message }) => void lost.push(message));
      const reading = read === 'chunks' ? Array.fromAsync(body.chunks()) : body[read]();
      expect(await messageOf(reading), read).to.equal('told: broken');
      expect(lost, read).to.deep.equal(['told: broken']);
    }
  });

  it('reads JSON, and tells who watches of anything else, without secrets', async () => {
    expect(await bodyOf(['{"a"', ':1}']).body.json()).to.deep.equal({ a: 1 });
    const { body } = bodyOf(['<p>sk-secret-1'], 'end', ['sk-secret-1']);
    const lost: string[] = [];
    body.watch(({ message }) => void lost.push(message));
    const message = await messageOf(body.json());
    expect(message).to.contain('protocol: the answer is not JSON: <p>').and.not.to.contain('sk-secret-1');
    expect(lost).to.deep.equal([message]);
  });

  it('begins a reply: up to the limit, to where it breaks off, or as much as comes in time', async () => {
    expect(await bodyOf(['ab', 'cd']).body.begin(9, 1000)).to.equal('abcd');
    expect(await bodyOf(['ab', 'cd'], 'silence').body.begin(3, 1_000_000)).to.equal('abc');
    expect(await bodyOf(['ab'], 'break').body.begin(9, 1000)).to.equal('ab');
    const { body, seen } = bodyOf(['ab'], 'silence');
    expect([await body.begin(9, 5), seen.closed > 0]).to.deep.equal(['ab', true]);
  });

  it('has no timer left of a reply that came in time', async () => {
    const { body, seen } = bodyOf(['ab']);
    await body.begin(9, 5);
    const closed = seen.closed;
    await new Promise((resolve) => setTimeout(resolve, 15));
    expect(seen.closed).to.equal(closed);
  });

  it('can be read after a look at all of it, as it was or as it failed', async () => {
    const { body } = bodyOf(['a', 'b']);
    expect([await body.peek(), await body.peek(), await body.text()]).to.deep.equal(['ab', 'ab', 'ab']);
    const broken = bodyOf(['a'], 'break').body;
    expect([await broken.peek(), (await messageOf(broken.text())).endsWith('told: broken')]).to.deep.equal(['', true]);
  });

  it('is read once, and not at all once dropped', async () => {
    const { body } = bodyOf(['a']);
    await body.text();
    expect(await messageOf(body.text())).to.contain('read once');
    expect(() => body.chunks()).to.throw('read once');
    const dropped = bodyOf(['a']);
    dropped.body.drop();
    expect([dropped.seen.closed, await messageOf(dropped.body.bytes())]).to.deep.equal([
      1,
      'the body of a reply is read once',
    ]);
  });

  it('opens for a reader of its own', () => {
    const { body, source } = bodyOf(['a']);
    const onError = () => {};
    const open = body.open(onError);
    expect([open.body === source, open.onError === onError]).to.deep.equal([true, true]);
    expect(open.toError?.(new Error('x'))).to.have.property('message', 'told: x');
    expect(() => body.open(onError)).to.throw('read once');
  });
});
