// What reading the body of an upstream's reply as a whole takes.
import { expect } from 'chai';
import type { ByteTaker } from '../../../lib/stream/bytes.ts';
import { UpstreamBody } from '../../../lib/upstream/host/body.ts';
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
});
