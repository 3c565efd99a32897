// Decodes an answer whose framing its plugin names: frame by frame, each a JSON value for the plugin's reader.
import { parseExactJson } from '../../base/exact-json.ts';
import type { Decoder } from '../../stream/bytes.ts';
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { HostFault } from '../contract/fault.ts';
import type { Frame, Framing, JsonObject } from '../contract/request.ts';
import { isUpstreamFault } from './fault.ts';
import { createFraming, type FramingName } from './framing.ts';
import { Writer } from './writer.ts';

export interface FramedOptions {
  readonly reader: AnswerReader;
  readonly fault: HostFault;
  readonly framing: FramingName | Framing;
  readonly bytesMax: number;
}

const END_MARK = '[DONE]';

export class FramedAnswer implements Decoder<ProviderPart> {
  /** True when nothing that follows counts. */
  done = false;
  readonly failure = undefined;
  /** Set once the reply turned out to have failed; the parts before it count. */
  error: unknown;
  readonly #options: FramedOptions;
  readonly #frame: Framing | ReturnType<typeof createFraming>;
  readonly #writer = new Writer();

  constructor(options: FramedOptions) {
    const { framing, bytesMax } = options;
    this.#options = options;
    this.#frame = typeof framing === 'function' ? framing : createFraming(framing, bytesMax);
  }

  push(chunk: Uint8Array, parts: ProviderPart[]): void {
    this.#writer.into(parts);
    this.#read(chunk);
    // Otherwise the last parts would be kept until there are others.
    this.#writer.into([]);
  }

  end(parts: ProviderPart[]): void {
    this.#writer.into(parts);
    this.#read(undefined);
    if (this.done) return;
    try {
      this.#options.reader.end?.(this.#writer, false);
      this.#writer.close();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The body broke off: harmless if the answer already had its finish reason. */
  break(error: unknown): readonly ProviderPart[] {
    const parts: ProviderPart[] = [];
    this.#writer.into(parts);
    this.#fail(error);
    return parts;
  }

  #read(chunk: Uint8Array | undefined): void {
    if (this.done) return;
    try {
      for (const frame of this.#cut(chunk)) {
        this.#take(frame, chunk === undefined);
        if (this.done) return;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Behind bytes in another framing, whether or not they matter any more, nothing can be read. */
  *#cut(chunk: Uint8Array | undefined): Generator<Frame> {
    try {
      yield* this.#frame(chunk);
    } catch (error) {
      this.done = true;
      const { make } = this.#options.fault;
      throw isUpstreamFault(error) ? error : make('protocol', `not the framing that is expected: ${error}`);
    }
  }

  /** The last value of a body may be truncated: the answer is then just unfinished. */
  #take({ data, name = '', isError = false }: Frame, isLast: boolean): void {
    const { reader, fault } = this.#options;
    if (data === END_MARK) {
      reader.end?.(this.#writer, true);
      this.#writer.done(END_MARK);
      this.done = true;
      return;
    }
    // An event that is nothing but its name.
    if (data === '' && !isError && name !== 'error') return;
    const value = typeof data === 'string' ? parse(data) : data;
    if (isError || name === 'error') throw fault.ofComplaint({ error: describeError(value, name) }, true);
    if (value === undefined && isLast) return;
    if (value === undefined) throw fault.make('protocol', `not JSON: ${String(data).slice(0, 200)}`);
    for (const item of Array.isArray(value) ? value : [value]) {
      if (this.done || typeof item !== 'object' || item === null) continue;
      reader.take(item as JsonObject, this.#writer, () => name);
      this.done = this.#writer.isDone;
    }
  }

  /** Harmless once the answer is finished, and the last word when it had a reason to. */
  #fail(error: unknown): void {
    if (this.#writer.finished) return;
    this.done = true;
    this.error = error;
  }
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** The code of an error is its name; its value is seldom more than a message. */
function describeError(value: unknown, name: string): object {
  const fields = typeof value === 'object' && value !== null ? value : { message: String(value ?? '') };
  return { code: name, ...fields };
}
