// The body of an upstream's reply: read once, as text, JSON or a stream, or dropped.
import assert from 'node:assert/strict';
import { parseJsonWithLongIds } from '../../base/exact-json.ts';
import { createGrowingBuffer } from '../../base/growing-buffer.ts';
import { type ByteSource, type OpenBody, readBytes } from '../../stream/bytes.ts';
import type { HostBody } from '../contract/host.ts';
import { upstreamFault } from './fault.ts';
import { readPluginRun } from './plugin-run.ts';
import { scrub } from './secret.ts';

/** Replies read as a whole are small (an error, a token, a job's state), unless the caller says otherwise. */
const BYTES_MAX = 1024 * 1024;

/** What a body needs of the request it answers. */
interface BodySource {
  readonly source: ByteSource;
  readonly signal: AbortSignal;
  readonly toError: (error: Error) => Error;
  /** Never shown in the detail of a fault. */
  readonly secrets: readonly string[];
}

export class UpstreamBody implements HostBody {
  #source: BodySource;
  #taken = false;
  #onLost: ((error: Error) => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** `onLost` is called if the body breaks off, or is not what it was read as. */
  watch(onLost: (error: Error) => void): void {
    const { toError } = this.#source;
    this.#onLost = onLost;
    this.#source = {
      ...this.#source,
      toError(error) {
        const fault = toError(error);
        onLost(fault);
        return fault;
      },
    };
  }

  /** For a reader of its own; `onError` is told what failed by what the body says, as others tell by status. */
  open(onError: (error: unknown) => void): OpenBody {
    const { source: body, toError } = this.#take();
    return { body, toError, onError };
  }

  chunks(): AsyncIterable<readonly Uint8Array[]> {
    const { source: body, signal, toError } = this.#take();
    return readBytes({ body, signal, toError });
  }

  async text(limitBytes?: number): Promise<string> {
    return new TextDecoder().decode(await this.bytes(limitBytes));
  }

  async bytes(limitBytes: number = BYTES_MAX): Promise<Uint8Array> {
    const { source: body, signal, toError } = this.#take();
    const room = createGrowingBuffer({ announced: undefined, bytesMax: limitBytes });
    let bytes = 0;
    for await (const arrived of readBytes({ body, signal, toError })) {
      for (const chunk of arrived) bytes += chunk.length;
      if (bytes > limitBytes) {
        body.destroy();
        throw upstreamFault('protocol', `the answer is longer than ${limitBytes} bytes`);
      }
      for (const chunk of arrived) room.append(chunk);
      await waitForMemory(bytes);
    }
    return room.content();
  }

  /** As much of the body as comes within the time, until it breaks off: for a reply whose status says the most. */
  async begin(limitBytes: number, patienceMs: number): Promise<string> {
    const room = createGrowingBuffer({ announced: undefined, bytesMax: limitBytes });
    const timer = setTimeout(() => this.drop(), patienceMs);
    try {
      let left = limitBytes;
      for await (const arrived of this.chunks()) {
        for (const chunk of arrived) {
          room.append(chunk.subarray(0, left));
          left -= Math.min(chunk.length, left);
        }
        if (left === 0) break;
      }
    } catch {
      // The body broke off: what came before counts.
    } finally {
      clearTimeout(timer);
    }
    return new TextDecoder().decode(room.content());
  }

  async json(limitBytes?: number): Promise<unknown> {
    const { secrets } = this.#source;
    const text = await this.text(limitBytes);
    try {
      return parseJsonWithLongIds(text);
    } catch {
      const fault = upstreamFault('protocol', `the answer is not JSON: ${scrub(text, secrets).slice(0, 200)}`);
      this.#onLost?.(fault);
      throw fault;
    }
  }

  /** The whole body as text, which can still be read afterwards; `''` if it breaks off or is too long. */
  async peek(): Promise<string> {
    const read = await this.bytes().catch((error: Error) => error);
    this.#source = { ...this.#source, source: repeat(read) };
    this.#taken = false;
    return read instanceof Error ? '' : new TextDecoder().decode(read);
  }

  drop(): void {
    this.#taken = true;
    this.#source.source.destroy();
  }

  #take(): BodySource {
    assert(!this.#taken, 'the body of a reply is read once');
    this.#taken = true;
    return this.#source;
  }
}

/** A long reply, as with images, is read no further until there is room for it. */
function waitForMemory(bytes: number): Promise<void> | undefined {
  const memory = readPluginRun()?.memory;
  memory?.noteEvent(bytes);
  return memory?.waitForRoom();
}

/** A body that was read, or broke off, once more. */
function repeat(read: Uint8Array | Error): ByteSource {
  return {
    open(taker) {
      if (read instanceof Error) return taker.fail(read);
      taker.data(read);
      taker.end();
    },
    pause() {},
    resume() {},
    destroy() {},
  };
}
