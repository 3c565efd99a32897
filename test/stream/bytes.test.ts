import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type ByteSource, type ByteTaker, decodeBody, readBytes } from '../../lib/stream/bytes.ts';
import { type Exchanges, openExchanges } from '../../testkit/exchanges.ts';
import { createSseDecoder } from '../../testkit/sse.ts';
import { itTimed } from '../../testkit/timed.ts';

const KIB = 1024;

describe('reader of bodies', () => {
  let upstream: Exchanges;

  beforeEach(async () => {
    upstream = await openExchanges();
  });
  afterEach(() => upstream.close());

  const open = async (signal?: AbortSignal): Promise<ByteSource> => (await upstream.ask(signal)).source;

  async function collect(body: ByteSource, signal = new AbortController().signal): Promise<string[]> {
    const arrays: string[] = [];
    for await (const chunks of readBytes({ body, signal })) arrays.push(chunks.map(String).join('|'));
    return arrays;
  }

  it('hands over together what arrived together', async () => {
    upstream.answer = async (response, socket) => {
      for (const text of ['a', 'b', 'c']) response.write(text);
      await sleep(30);
      socket.cork();
      for (const text of ['d', 'e']) response.write(text);
      response.end('f');
      socket.uncork();
    };
    const arrays = await collect(await open());
    expect(arrays.join('').replaceAll('|', '')).to.equal('abcdef');
    expect(arrays.at(-1)).to.equal('d|e|f');
  });

  it('stops the upstream while nobody pulls, holds little, and loses nothing', async () => {
    const total = 48 * KIB * KIB;
    let sent = 0;
    upstream.answer = (response) => {
      const block = Buffer.alloc(64 * KIB, 'x');
      const write = () => {
        while (sent < total) {
          sent += block.length;
          if (!response.write(block)) return response.once('drain', write);
        }
        return response.end();
      };
      write();
    };
    const body = await open();
    const reader = readBytes({ body, signal: new AbortController().signal });
    let read = 0;
    const first = await reader.next();
    for (const chunk of first.value ?? []) read += chunk.length;
    await sleep(200);
    const sentWhilePaused = sent;
    await sleep(100);
    expect(sent).to.equal(sentWhilePaused);
    expect(sent).to.be.below(total / 2);
    for await (const chunks of reader) for (const chunk of chunks) read += chunk.length;
    expect(read).to.equal(total);
  });

  itTimed('frees a pending read at once on abort and closes the connection', async () => {
    const closed = Promise.withResolvers<number>();
    upstream.answer = (response) => {
      response.write('a');
      response.on('close', () => closed.resolve(performance.now()));
    };
    const controller = new AbortController();
    const reader = readBytes({ body: await open(), signal: controller.signal });
    await reader.next();
    const pending = reader.next();
    await sleep(20);
    const reason = new Error('the client left');
    const aborted = performance.now();
    controller.abort(reason);
    expect(await pending.catch((error: unknown) => error)).to.equal(reason);
    expect(performance.now() - aborted).to.be.below(100);
    expect((await closed.promise) - aborted).to.be.below(100);
    expect(await reader.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('throws the reason when it is aborted before the first read, and drops what waits', async () => {
    upstream.answer = (response) => response.end('a');
    const controller = new AbortController();
    const early = readBytes({ body: await open(), signal: AbortSignal.abort('early') });
    expect(await early.next().catch((error: unknown) => error)).to.equal('early');
    const late = readBytes({ body: await open(), signal: controller.signal });
    const first = late.next();
    controller.abort('late');
    expect(await first.catch((error: unknown) => error)).to.equal('late');
  });

  it('leaves no listener behind', async () => {
    upstream.answer = (response) => response.end('a');
    const { signal } = new AbortController();
    await collect(await open(signal), signal);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('gives what came before a reset, then the error', async () => {
    upstream.answer = async (response, socket) => {
      response.write('a');
      await sleep(30);
      socket.resetAndDestroy();
    };
    const reader = readBytes({
      body: await open(),
      signal: new AbortController().signal,
      toError: (error) => new Error(`mapped: ${error.message}`),
    });
    expect((await reader.next()).value?.map(String)).to.deep.equal(['a']);
    const error: unknown = await reader.next().catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/^mapped: /);
    expect(await reader.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('takes a body cut off before its end for an error', async () => {
    upstream.answer = async (response, socket) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('abc');
      await sleep(30);
      socket.end();
    };
    const body = await open();
    expect(await collect(body).catch((error: unknown) => error)).to.be.an('error');
  });

  it('throws when the body was gone before it was read', async () => {
    upstream.answer = (response) => void response.write('a');
    const body = await open();
    body.destroy();
    expect(await collect(body).catch((error: unknown) => error)).to.be.an('error');
  });

  itTimed('closes a body that its reader leaves while it goes on', async () => {
    const closed = Promise.withResolvers<void>();
    upstream.answer = (response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => {
        clearInterval(timer);
        closed.resolve();
      });
    };
    for await (const chunks of readBytes({ body: await open(), signal: new AbortController().signal })) {
      expect(chunks).not.to.have.length(0);
      break;
    }
    const left = performance.now();
    await closed.promise;
    expect(performance.now() - left).to.be.below(1000);
  });

  it('closes a body at once when more is left of it than is worth reading', async () => {
    let taken = 0;
    const closed = Promise.withResolvers<void>();
    upstream.answer = (response, socket) => {
      response.write('x'.repeat(16 * KIB));
      const timer = setInterval(() => response.write('x'.repeat(16 * KIB)), 5);
      response.on('close', () => {
        clearInterval(timer);
        taken = socket.bytesWritten;
        closed.resolve();
      });
    };
    for await (const _ of readBytes({ body: await open(), signal: new AbortController().signal })) break;
    await closed.promise;
    // In the 250 ms that it has otherwise, it would be sent some 50 times as much as the first write.
    expect(taken).to.be.below(320 * KIB);
  });

  it('uses the connection again when the body ends soon after its reader left', async () => {
    upstream.answer = async (response) => {
      response.write('last words');
      await sleep(5);
      response.end();
    };
    for (let call = 0; call < 3; call++) {
      for await (const chunks of readBytes({ body: await open(), signal: new AbortController().signal })) {
        expect(chunks.map(String)).to.deep.equal(['last words']);
        break;
      }
      await sleep(100);
    }
    expect(upstream.connections()).to.equal(1);
  });

  it('ends a pending read when its reader leaves', async () => {
    upstream.answer = (response) => void response.write('a');
    const reader = readBytes({ body: await open(), signal: new AbortController().signal });
    await reader.next();
    const pending = reader.next();
    await reader.return?.();
    expect(await pending).to.deep.equal({ done: true, value: undefined });
  });

  it('closes the body when the decoder fails, after the items before it', async () => {
    const closed = Promise.withResolvers<void>();
    upstream.answer = (response) => {
      response.write(`data: 1\n\ndata: ${'x'.repeat(100)}\n\ndata: 3\n\n`);
      response.on('close', () => closed.resolve());
    };
    const decoder = createSseDecoder({ charsMax: 50, bytesMax: 1000 });
    const reader = decodeBody({ body: await open(), decoder, signal: new AbortController().signal });
    expect((await reader.next()).value).to.deep.equal([{ event: 'message', data: '1' }]);
    const error: unknown = await reader.next().catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error').with.property('message', 'a line is longer than 50 characters');
    await closed.promise;
  });

  it('pauses a body only for more than one read, and goes on when that is decoded', async () => {
    const calls: string[] = [];
    let taker: ByteTaker | undefined;
    const body: ByteSource = {
      open(opened) {
        taker = opened;
      },
      pause: () => void calls.push('pause'),
      resume: () => void calls.push('resume'),
      destroy: () => undefined,
    };
    const reader = readBytes({ body, signal: new AbortController().signal });
    const read = async (chunks: number) => {
      const next = reader.next();
      for (let at = 0; at < chunks; at += 1) taker?.data(Buffer.alloc(32 * KIB));
      return (await next).value?.length;
    };
    expect(await read(1)).to.equal(1);
    expect(calls).to.deep.equal([]);
    // What one read of a socket brings.
    expect(await read(2)).to.equal(1);
    expect((await reader.next()).value).to.have.length(1);
    expect(calls).to.deep.equal([]);
    expect(await read(3)).to.equal(1);
    expect(calls).to.deep.equal(['pause']);
    expect((await reader.next()).value).to.have.length(1);
    expect(calls).to.deep.equal(['pause']);
    expect((await reader.next()).value).to.have.length(1);
    expect(calls).to.deep.equal(['pause', 'resume']);
    taker?.data(Buffer.alloc(1));
    expect(calls).to.deep.equal(['pause', 'resume', 'pause']);
  });

  for (const [what, text] of [
    ['of tiny events', 'data\n\n'],
    ['without any event', ':\n'],
  ] as const) {
    it(`reads a flood ${what} in slices, letting the loop turn after each`, async () => {
      const flood = Buffer.from(`${text.repeat((8 * KIB * KIB) / text.length)}data: last\n\n`);
      const body: ByteSource = {
        open(taker) {
          taker.data(flood);
          taker.end();
        },
        pause: () => undefined,
        resume: () => undefined,
        destroy: () => undefined,
      };
      const turns = countTurns();
      const decoder = createSseDecoder();
      let longest = 0;
      let last: unknown;
      for await (const events of decodeBody({ body, decoder, signal: new AbortController().signal })) {
        longest = Math.max(longest, events.length);
        last = events.at(-1);
      }
      expect(last).to.deep.equal({ event: 'message', data: 'last' });
      expect(longest).to.be.below(6000);
      expect(turns.stop()).to.be.at.least(flood.length / (32 * KIB) - 2);
    });
  }
});

function countTurns(): { stop(): number } {
  let turns = 0;
  let over = false;
  const turn = () => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      over = true;
      return turns;
    },
  };
}
