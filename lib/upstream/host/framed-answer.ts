// Decodes an answer whose framing its plugin names: frame by frame, each a JSON value for the plugin's reader.
import { parseExactJson } from '../../base/exact-json.ts';
import type { Decoder } from '../../stream/bytes.ts';
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { HostFault } from '../contract/fault.ts';
import type { Frame, Framing } from '../contract/request.ts';
import { AnswerValues, END_MARK } from './answer-values.ts';
import { isUpstreamFault } from './fault.ts';
import { createFraming, type FramingName } from './framing.ts';

export interface FramedOptions {
  readonly reader: AnswerReader;
  readonly fault: HostFault;
  readonly framing: FramingName | Framing;
  readonly bytesMax: number;
}

export class FramedAnswer implements Decoder<ProviderPart> {
  readonly failure = undefined;
  readonly #fault: HostFault;
  readonly #values: AnswerValues;
  readonly #frame: Framing | ReturnType<typeof createFraming>;

  constructor({ reader, fault, framing, bytesMax }: FramedOptions) {
    this.#fault = fault;
    this.#values = new AnswerValues(reader);
    this.#frame = typeof framing === 'function' ? framing : createFraming(framing, bytesMax);
  }

  get done(): boolean {
    return this.#values.done;
  }

  get error(): unknown {
    return this.#values.error;
  }

  push(chunk: Uint8Array, parts: ProviderPart[]): void {
    this.#values.into(parts);
    this.#read(chunk);
    this.#values.into();
  }

  end(parts: ProviderPart[]): void {
    this.#values.into(parts);
    this.#read(undefined);
    if (this.done) return;
    try {
      this.#values.end();
    } catch (error) {
      this.#values.fail(error);
    }
  }

  break(error: unknown): void {
    this.#values.fail(error);
  }

  #read(chunk: Uint8Array | undefined): void {
    if (this.done) return;
    try {
      for (const frame of this.#cut(chunk)) {
        this.#take(frame, chunk === undefined);
        if (this.done) return;
      }
    } catch (error) {
      this.#values.fail(error);
    }
  }

  /** After bytes in another framing nothing can be read, even where the answer has already ended. */
  *#cut(chunk: Uint8Array | undefined): Generator<Frame> {
    try {
      yield* this.#frame(chunk);
    } catch (error) {
      this.#values.done = true;
      throw isUpstreamFault(error) ? error : this.#fault.make('protocol', `not the framing that is expected: ${error}`);
    }
  }

  /** The last value of a body may be truncated: the answer is then just unfinished. */
  #take({ data, name = '', isError = false }: Frame, isLast: boolean): void {
    if (data === END_MARK) {
      this.#values.takeEndMark();
      return;
    }
    // An event that is nothing but its name.
    if (data === '' && !isError && name !== 'error') return;
    const value = typeof data === 'string' ? parse(data) : data;
    if (isError || name === 'error') throw this.#fault.ofComplaint({ error: describeError(value, name) }, true);
    if (value !== undefined) this.#values.take(value, () => name);
    else if (!isLast) throw this.#fault.make('protocol', `not JSON: ${String(data).slice(0, 200)}`);
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
