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
