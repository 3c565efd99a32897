// The default time limits of bodies, with a mocked clock.
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { mock } from 'node:test';
import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { BODY_BYTES_MAX, readBody, readPieces } from '../../lib/http/body.ts';
import { createMemoryQuota } from '../../lib/http/memory-quota.ts';
import { itTimed } from '../../testkit/timed.ts';

/** What a window needs at the slowest pace. */
const WINDOW_BYTES = 10 * 1024;

type Part = readonly [atS: number, bytes: number];

describe('body with default limits', () => {
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  /** A request whose body is on its way, and how reading it ends. */
  function receive(): { request: EventEmitter; outcome: Promise<unknown> } {
    const request = Object.assign(new EventEmitter(), {
      headers: { 'transfer-encoding': 'chunked' },
      readableLength: 0,
    });
    const reservation = createMemoryQuota({ bytesMax: 8 * 1024 * 1024, ownerBytesMax: 8 * 1024 * 1024 }).reserve('key');
    const reading = readBody(request as unknown as IncomingMessage, {
      signal: new AbortController().signal,
      reservation: reservation,
    });
    const outcome = reading.then(
      (bytes) => bytes.length,
      (error: unknown) => (isFault(error) ? error.data?.code : error),
    );
    return { request, outcome };
  }

  it('in pieces is refused by its announced length before it is read', () => {
    const reservation = createMemoryQuota({ bytesMax: 1, ownerBytesMax: 1 }).reserve('key');
    const options = { signal: new AbortController().signal, reservation, onChunk: () => undefined };
    const announce = (bytes: number) => ({ headers: { 'content-length': `${bytes}` } }) as IncomingMessage;
    expect(() => readPieces(announce(BODY_BYTES_MAX + 1), options)).to.throw('larger than 48 MiB');
    expect(() => readPieces(announce(1025), { ...options, limits: { bytesMax: 1024 } })).to.throw('larger than 1 KiB');
  });

  itTimed('may be idle for ten seconds', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let ended = false;
    const { outcome } = receive();
    void outcome.then(() => {
      ended = true;
    });
    mock.timers.tick(9_999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).to.equal(false);
    mock.timers.tick(1);
    expect(await outcome).to.equal('body_timeout');
  });

  const steadily = (untilS: number): Part[] =>
    Array.from({ length: untilS / 10 }, (_, at): Part => [10 * (at + 1), WINDOW_BYTES]);
  const paces: readonly (readonly [name: string, parts: readonly Part[], outcome: unknown])[] = [
    ['may take five minutes at the slowest pace', steadily(300), 30 * WINDOW_BYTES],
    ['may not take longer', [...steadily(300), [300.001, 1]], 'body_timeout'],
    ['may not take longer however fast it is', [...steadily(290), [300.001, 1_000_000]], 'body_timeout'],
    ['may not be slower in one window of ten seconds', [...steadily(30), [40, WINDOW_BYTES - 1]], 'body_timeout'],
    [
      'may make up for a slow second within its window',
      [...steadily(30), [31, 1], [40, WINDOW_BYTES - 1]],
      4 * WINDOW_BYTES,
    ],
    [
      'may be slower for half a minute',
      [
        [10, 1],
        [20, 1],
        [30, 1],
        [40, WINDOW_BYTES],
      ],
      3 + WINDOW_BYTES,
    ],
    [
      'may not go on like that',
      [
        [10, 1],
        [20, 1],
        [30, 1],
        [40, 1],
      ],
      'body_timeout',
    ],
  ];
  for (const [name, parts, expected] of paces) {
    itTimed(name, async () => {
      let nowMs = 0;
      mock.method(performance, 'now', () => nowMs);
      const { request, outcome } = receive();
      for (const [atS, bytes] of parts) {
        nowMs = 1000 * atS;
        request.emit('data', Buffer.alloc(bytes));
      }
      request.emit('end');
      expect(await outcome).to.equal(expected);
    });
  }

  itTimed('removes its listeners from the request, however it ends', async () => {
    for (const end of ['end', 'close', 'error']) {
      const made = mock.method(globalThis, 'setTimeout');
      const cleared = mock.method(globalThis, 'clearTimeout');
      const { request, outcome } = receive();
      request.emit(end);
      await outcome;
      expect(request.eventNames(), end).to.deep.equal([]);
      // It would keep what has arrived of the body.
      expect(cleared.mock.calls.map((call) => call.arguments[0])).to.include(made.mock.calls[0]?.result);
      mock.restoreAll();
    }
  });
});
