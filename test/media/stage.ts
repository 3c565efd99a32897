// A fetcher on the small Internet, and the expected form of its failures.
import { expect } from 'chai';
import { type FaultCode, isFault } from '../../lib/base/faults.ts';
import { isPublicAddress } from '../../lib/media/address.ts';
import { type FailureReason, FetchFailure } from '../../lib/media/failure.ts';
import type { FetcherOptions } from '../../lib/media/fetcher.ts';
import type { ByteBudget, Image } from '../../lib/media/image.ts';
import { type Answer, type HostOptions, Network, reply } from './network.ts';
import { PNG } from './sample-images.ts';

export const MIB = 1024 * 1024;

export interface FetchOptions extends FetcherOptions {
  readonly signal?: AbortSignal;
  readonly budget?: ByteBudget;
}

export interface Refusal {
  readonly code: FaultCode;
  /** What the log is told. */
  readonly reason?: FailureReason;
}

/** To be called in a `describe`. */
export function createStage() {
  const network = new Network();
  before(() => network.watch());
  afterEach(() => network.forget());
  after(async () => {
    await network.close();
    await network.expectNoStrays();
  });

  let named = 0;

  /** A URL on a new host that answers so. */
  async function serve(answer: Answer, options: HostOptions = {}): Promise<string> {
    named += 1;
    const name = `host-${named}.images.net`;
    await network.host(name, answer, options);
    return `https://${name}/secret-path.png?secret=1`;
  }

  function fetchImage(url: string, { signal, budget, ...options }: FetchOptions = {}): Promise<Image> {
    const request = { field: 'FIELD', signal: signal ?? new AbortController().signal, ...(budget && { budget }) };
    return network.fetcher(options).fetchImage(url, request);
  }

  async function refused(url: string, { code, reason }: Refusal, options: FetchOptions = {}): Promise<void> {
    const limits = { ...(reason === 'slow' && { imageMs: 1_500 }), ...options.limits };
    const thrown: unknown = await fetchImage(url, { ...options, limits }).catch((error) => error);
    if (!isFault(thrown)) throw new Error('not refused', { cause: thrown });
    expect([thrown.data?.code, thrown.data?.detail.field]).to.deep.equal([code, 'FIELD']);
    if (reason) expect((thrown.cause as FetchFailure).reason).to.equal(reason);
    expectSecrecy(thrown);
    for (const dialled of network.dialled) expect(isPublicAddress(dialled.split(':')[0] ?? ''), dialled).to.equal(true);
  }

  return { network, serve, fetchImage, refused };
}

/** That nothing of an error that a reply or a log line could show names what was fetched. */
export function expectSecrecy(error: Error): void {
  const { cause } = error;
  const shown = [error.message, error.stack, JSON.stringify(error), JSON.stringify(cause)];
  if (cause !== undefined) {
    if (!(cause instanceof FetchFailure)) throw new Error('a cause that is not ours', { cause });
    expect(cause.cause).to.equal(undefined);
    shown.push(cause.message, cause.stack);
  }
  expect(shown.join('\n')).not.to.match(/secret|images\.net|93\.184|127\.0\.0\.1|10\.0\.0|intranet|minio/);
}

export const imageReply = (body: Buffer = PNG, headers = {}) => reply({ body, headers });

/** One byte now and then, for ever. */
export const drip: Answer = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  let at = 0;
  const timer = setInterval(() => socket.write(PNG.subarray(at % 40, (at++ % 40) + 1)), 50);
  socket.on('close', () => clearInterval(timer));
};

export function chunked(bytes: Buffer): Answer {
  const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
  const body = Buffer.concat([size, bytes, Buffer.from('\r\n0\r\n\r\n')]);
  return reply({ headers: { 'transfer-encoding': 'chunked' }, body });
}

/** Ends with its connection, without a length. */
export function unmeasured(bytes: Buffer): Answer {
  return (socket) => socket.end(Buffer.concat([Buffer.from('HTTP/1.0 200 OK\r\n\r\n'), bytes]));
}
