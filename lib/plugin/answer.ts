// One text answer as a plugin reads it: the request, its refusal, and the reply's lines through the plugin's own reader.
import type { HostBody, HostHttp, HostRequest, ReplyReader, StreamPart } from './contract.ts';

/** Of a refusal's body so much is read at most. */
const REFUSAL_BYTES_MAX = 64 * 1024;

export interface AnswerOptions {
  readonly http: HostHttp;
  readonly lines: (body: HostBody, signal: AbortSignal) => AsyncIterable<readonly string[]>;
  readonly url: string;
  readonly request: HostRequest;
  readonly reader: ReplyReader;
}

export function createAnswer(options: AnswerOptions): AsyncIterableIterator<readonly StreamPart[]> {
  return new Answer(options);
}

type Step = IteratorResult<readonly StreamPart[]>;

const DONE: Step = { done: true, value: undefined };

/** No generator: one would hold the last lines and parts for as long as a reader does not take what comes next. */
class Answer implements AsyncIterableIterator<readonly StreamPart[]> {
  readonly #options: AnswerOptions;
  #state: 'new' | 'open' | 'read' | 'left' = 'new';
  #lines: AsyncIterator<readonly string[]> | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    if (this.#state === 'new') await this.#open();
    while (this.#state === 'open') {
      const parts = await this.#step();
      if (parts.length > 0) return { done: false, value: parts };
    }
    return this.#end();
  }

  /** May come while a step is under way: that one then gives nothing more. */
  async return(): Promise<Step> {
    this.#state = 'left';
    await this.#lines?.return?.();
    return DONE;
  }

  async #open(): Promise<void> {
    const { http, lines, url, request, reader } = this.#options;
    this.#state = 'open';
    try {
      const { status, body } = await http.request(url, request);
      if (status < 200 || status > 299) throw reader.refuse(status, await readRefusal(body));
      this.#lines = lines(body, request.signal)[Symbol.asyncIterator]();
    } catch (error) {
      this.#state = 'left';
      throw error;
    }
    if (this.#isLeft()) await this.return();
  }

  async #step(): Promise<readonly StreamPart[]> {
    const { reader, request } = this.#options;
    try {
      const { done, value } = await (this.#lines as AsyncIterator<readonly string[]>).next();
      if (this.#isLeft()) return [];
      const parts = done ? reader.end() : reader.push(value);
      if (done || reader.done) this.#state = 'read';
      if (reader.done) await this.#lines?.return?.();
      return parts;
    } catch (error) {
      if (request.signal.aborted) this.#state = 'left';
      if (this.#isLeft()) throw error;
      this.#state = 'read';
      return reader.break(error);
    }
  }

  #end(): Step {
    const { failure } = this.#options.reader;
    if (failure === undefined || this.#isLeft()) return DONE;
    this.#state = 'left';
    throw failure;
  }

  #isLeft(): boolean {
    return this.#state === 'left';
  }
}

/** It may break off as well; the status is known already. */
async function readRefusal(body: HostBody): Promise<string> {
  try {
    return await body.text(REFUSAL_BYTES_MAX);
  } catch {
    return '';
  }
}
