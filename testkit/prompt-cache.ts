// A vendor's prompt cache, which counts what it reads and writes as the real ones do, and vendors of the messages and the
// chat format that have one.
import { hash } from 'node:crypto';
import type { Behaviour } from './upstream.ts';
import { SSE } from './upstream.ts';

/** In tokens; disjoint. */
export interface PromptCounts {
  readonly input: number;
  readonly read: number;
  readonly written: number;
}

/** What a vendor bills of one call. */
export interface Counted extends PromptCounts {
  readonly output: number;
}

/** A piece of a prompt, in the order in which the vendor reads them. */
export interface PromptBlock {
  readonly text: string;
  /** Whether a client's cache marker stands on it. */
  readonly marked: boolean;
}

export interface CachingVendor {
  readonly behaviour: Behaviour;
  readonly counted: Counted[];
  /** Lets time pass: what nobody read for five minutes is gone. */
  wait(ms: number): void;
}

/** The nth answer of a conversation: a call of a tool, or at the end a text. */
interface Script {
  readonly calls: number;
  readonly tool: string;
  arguments(at: number): string;
}

const TTL_MS = 5 * 60_000;
/** Shorter prefixes are not cached. */
const TOKENS_MIN = 1024;
const MARKERS_MAX = 4;
/** How many blocks before a breakpoint an earlier one is found. */
const LOOKBACK = 20;
const CHARACTERS_PER_TOKEN = 4;
/** Automatic caches grow by this many tokens. */
export const STEP_TOKENS = 128;
const OUTPUT_TOKENS = 30;

// biome-ignore lint/suspicious/noExplicitAny: a request of any shape
type Json = any;

export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

interface Prefix {
  readonly hash: string;
  readonly tokens: number;
  readonly marked: boolean;
}

function listPrefixes(blocks: readonly PromptBlock[]): readonly Prefix[] {
  let before = '';
  let tokens = 0;
  return blocks.map(({ text, marked }) => {
    before = hash('sha256', before + text);
    tokens += countTokens(text);
    return { hash: before, tokens, marked };
  });
}

/** The prefixes that a vendor keeps for a key, by their hash, each until nobody has read it for five minutes. */
export class PromptCache {
  readonly #until = new Map<string, number>();
  now = 0;

  /** Reads the longest prefix that ends near a marker, and writes the rest up to the last one. */
  countMarked(blocks: readonly PromptBlock[]): PromptCounts {
    const all = listPrefixes(blocks);
    const ends = all.flatMap(({ marked, tokens }, at) => (marked && tokens >= TOKENS_MIN ? [at] : []));
    if (ends.length > MARKERS_MAX) throw new Error(`${ends.length} markers`);
    const found = ends
      .toReversed()
      .flatMap((end) => all.slice(Math.max(0, end - LOOKBACK), end + 1).toReversed())
      .find((prefix) => this.#has(prefix));
    if (found) this.#keep(found);
    for (const end of ends) this.#keep(all[end] as Prefix);
    const total = all.at(-1)?.tokens ?? 0;
    const read = found?.tokens ?? 0;
    const written = Math.max(0, (all[ends.at(-1) ?? -1]?.tokens ?? 0) - read);
    return { input: total - read - written, read, written };
  }

  /** Caches without being asked, in steps, and writes for nothing. */
  countAutomatic(prompt: string): PromptCounts {
    const stepCharacters = STEP_TOKENS * CHARACTERS_PER_TOKEN;
    const steps: PromptBlock[] = [];
    for (let at = 0; at + stepCharacters <= prompt.length; at += stepCharacters) {
      steps.push({ text: prompt.slice(at, at + stepCharacters), marked: false });
    }
    const all = listPrefixes(steps).filter(({ tokens }) => tokens >= TOKENS_MIN);
    const read = all.findLast((prefix) => this.#has(prefix))?.tokens ?? 0;
    for (const prefix of all) this.#keep(prefix);
    return { input: countTokens(prompt) - read, read, written: 0 };
  }

  #has(prefix: Prefix): boolean {
    return (this.#until.get(prefix.hash) ?? Number.NEGATIVE_INFINITY) > this.now;
  }

  #keep(prefix: Prefix): void {
    this.#until.set(prefix.hash, this.now + TTL_MS);
  }
}

function createVendor(
  count: (body: Json, cache: PromptCache) => PromptCounts,
  answer: (body: Json, counted: Counted) => { readonly whole: object; readonly events: readonly string[] },
): CachingVendor {
  const cache = new PromptCache();
  const counted: Counted[] = [];
  return {
    counted,
    wait(ms) {
      cache.now += ms;
    },
    behaviour({ body, response }) {
      const counts = { ...count(body, cache), output: OUTPUT_TOKENS };
      counted.push(counts);
      const { whole, events } = answer(body, counts);
      if (body.stream) response.writeHead(200, SSE).end(events.map((event) => `${event}\n\n`).join(''));
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    },
  };
}

const event = (data: Json) => `event: ${data.type}\ndata: ${JSON.stringify(data)}`;

/** Caches up to the client's markers, in the order tools, system, messages; a write is counted apart. */
export function createMessageVendor(script: Script): CachingVendor {
  return createVendor(countMarked, ({ messages }, { input, read, written, output }) => {
    const at = messages.filter(({ role }: Json) => role === 'assistant').length;
    const isLast = at === script.calls - 1;
    const usage = {
      input_tokens: input,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
      output_tokens: output,
    };
    const json = script.arguments(at);
    const call = { type: 'tool_use', id: `toolu_${at}`, name: script.tool };
    const stop_reason = isLast ? 'end_turn' : 'tool_use';
    const head = { id: `msg_${at}`, type: 'message', role: 'assistant', model: 'm' };
    const start = isLast ? { type: 'text', text: '' } : { ...call, input: {} };
    const delta = isLast ? { type: 'text_delta', text: 'All done.' } : { type: 'input_json_delta', partial_json: json };
    const content = isLast ? { type: 'text', text: 'All done.' } : { ...call, input: JSON.parse(json) };
    return {
      whole: { ...head, content: [content], stop_reason, stop_sequence: null, usage },
      events: [
        { type: 'message_start', message: { ...head, content: [], usage: { ...usage, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: start },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: output } },
        { type: 'message_stop' },
      ].map(event),
    };
  });
}

function countMarked({ tools = [], system = [], messages }: Json, cache: PromptCache): PromptCounts {
  const listBlocks = (content: Json, role: string) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map(
      ({ cache_control: marker, ...block }: Json) => ({
        text: `${role} ${JSON.stringify(block)}`,
        marked: marker !== undefined,
      }),
    );
  return cache.countMarked([
    ...listBlocks(tools, 'tool'),
    ...listBlocks(system, 'system'),
    ...messages.flatMap(({ role, content }: Json) => listBlocks(content, role)),
  ]);
}

/** Caches by itself. */
export function createChatVendor(script: Script): CachingVendor {
  return createVendor(countAutomatic, ({ messages }, { input, read, output }) => {
    const at = messages.filter(({ role }: Json) => role === 'assistant').length;
    const isLast = at === script.calls - 1;
    const usage = {
      prompt_tokens: input + read,
      completion_tokens: output,
      total_tokens: input + read + output,
      prompt_tokens_details: { cached_tokens: read },
    };
    const called = { name: script.tool, arguments: script.arguments(at) };
    const call = { id: `call_${at}`, type: 'function', function: called };
    const message = isLast ? { content: 'All done.' } : { content: null, tool_calls: [call] };
    const finish_reason = isLast ? 'stop' : 'tool_calls';
    const head = { id: `chatcmpl-${at}`, model: 'm' };
    const delta = isLast ? message : { tool_calls: [{ index: 0, ...call }] };
    const chunks = [
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', ...delta } }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...head, choices: [], usage },
    ];
    return {
      whole: { ...head, choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }], usage },
      events: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}`), 'data: [DONE]'],
    };
  });
}

/** Of a message, the model sees its texts and calls, not how they are written. */
function countAutomatic({ tools = [], messages }: Json, cache: PromptCache): PromptCounts {
  const joinTexts = (content: Json) =>
    Array.isArray(content) ? content.map(({ text }: Json) => text).join('\n\n') : (content ?? '');
  const said = messages.map(({ role, content, tool_calls: calls = [] }: Json) =>
    [role, joinTexts(content), ...calls.map((call: Json) => `${call.function.name} ${call.function.arguments}`)].join(
      ' ',
    ),
  );
  return cache.countAutomatic([...tools.map((tool: Json) => JSON.stringify(tool.function)), ...said].join('\n'));
}
