// Answers derived from recorded ones in the wire formats that the gateway knows: what else an upstream may send.
import { Buffer } from 'node:buffer';

export type WireFormat = 'chat' | 'messages' | 'responses';

/** One event of a recorded stream; `value` is absent where its data is not a JSON object. */
interface WireEvent {
  readonly text: string;
  readonly value?: Value;
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON of any shape, which a derivation changes.
type Value = any;

/** Undefined for a body without such events, or in a format that the gateway does not know. */
export function detectFormat(body: Buffer): WireFormat | undefined {
  for (const { value } of readEvents(body)) {
    if (Array.isArray(value?.choices)) return 'chat';
    if (/^(message_|content_block_)/.test(String(value?.type))) return 'messages';
    if (String(value?.type).startsWith('response.')) return 'responses';
  }
  return undefined;
}

/** A body changed in one way; undefined where it has nothing to change. */
export type Derivation = (body: Buffer) => Buffer | undefined;

/** Each call twice, piece by piece in turn. */
export const interleaveCalls: Readonly<Record<WireFormat, Derivation>> = {
  chat: (body) =>
    doubleEvents(body, (value) => {
      const calls = value.choices?.[0]?.delta?.tool_calls;
      if (!Array.isArray(calls) || !calls.every((call: Value) => Number.isInteger(call.index))) return undefined;
      for (const call of calls) {
        call.index += OFFSET;
        if (call.id) call.id += SUFFIX;
      }
      return value;
    }),
  messages: (body) => {
    const calls = new Set<unknown>();
    return doubleEvents(body, (value) => {
      if (value.content_block?.type === 'tool_use') calls.add(value.index);
      if (!calls.has(value.index)) return undefined;
      value.index += OFFSET;
      if (value.content_block) value.content_block.id += SUFFIX;
      return value;
    });
  },
  responses: (body) => {
    const calls = new Set<unknown>();
    return doubleEvents(body, (value) => {
      if (value.item?.type === 'function_call') calls.add(value.output_index);
      if (!calls.has(value.output_index)) return undefined;
      value.output_index += OFFSET;
      if (value.item_id) value.item_id += SUFFIX;
      if (value.item) {
        value.item.id += SUFFIX;
        value.item.call_id += SUFFIX;
      }
      return value;
    });
  },
};

/** All of a call's arguments again, after its last piece. */
export function repeatArguments(format: WireFormat, json: string): Derivation {
  const copy = ARGUMENTS[format];
  return (body) => {
    const events = readEvents(body);
    const last = events.findLastIndex(({ value }) => value !== undefined && copy(clone(value), json) !== undefined);
    if (last < 0) return undefined;
    const again = changeEvent(events[last] as WireEvent, (value) => copy(value, json));
    return writeEvents(events.toSpliced(last + 1, 0, again));
  };
}

/** A piece of arguments made into all of them; undefined for another event. */
const ARGUMENTS: Readonly<Record<WireFormat, (value: Value, json: string) => Value>> = {
  chat: (value, json) => {
    const call = value.choices?.[0]?.delta?.tool_calls?.[0];
    if (typeof call?.function?.arguments !== 'string') return undefined;
    call.function = { arguments: json };
    delete call.id;
    return value;
  },
  messages: (value, json) => {
    if (value.delta?.type !== 'input_json_delta') return undefined;
    value.delta.partial_json = json;
    return value;
  },
  responses: (value) => (value.type === 'response.function_call_arguments.done' ? value : undefined),
};

/** Early counts that say more was read from a cache, which the last counts take back with a zero. */
export const countZeroLater: Partial<Readonly<Record<WireFormat, Derivation>>> = {
  chat: (body) => {
    const events = readEvents(body);
    const counts = events.findLast(({ value }) => value?.usage?.prompt_tokens > 1);
    if (!counts) return undefined;
    const early = changeEvent(counts, (value) => {
      const { prompt_tokens: prompt } = value.usage;
      const usage = { prompt_tokens: prompt, completion_tokens: 1, total_tokens: prompt + 1 };
      return { ...value, choices: [], usage: { ...usage, prompt_tokens_details: { cached_tokens: prompt - 1 } } };
    });
    const late = changeEvent(counts, (value) => {
      value.usage.prompt_tokens_details = { ...value.usage.prompt_tokens_details, cached_tokens: 0 };
      return value;
    });
    return writeEvents([early, ...events.map((event) => (event === counts ? late : event))]);
  },
  messages: (body) => {
    const events = readEvents(body);
    const start = events.find(({ value }) => value?.message?.usage?.input_tokens > 1);
    const counts = events.findLast(({ value }) => value?.type === 'message_delta' && value.usage);
    if (!start || !counts) return undefined;
    const input = start.value.message.usage.input_tokens;
    const early = changeEvent(start, (value) => {
      Object.assign(value.message.usage, { input_tokens: 1, cache_read_input_tokens: input - 1 });
      return value;
    });
    const late = changeEvent(counts, (value) => {
      value.usage = { input_tokens: input, cache_read_input_tokens: 0, ...value.usage };
      return value;
    });
    return writeEvents(events.map((event) => (event === start ? early : event === counts ? late : event)));
  },
};

/** Only what is done, no piece of it: some servers send nothing else. */
export const dropDeltas: Partial<Readonly<Record<WireFormat, Derivation>>> = {
  responses: (body) => {
    const events = readEvents(body);
    const rest = events.filter(({ value }) => !String(value?.type).endsWith('.delta'));
    const isSaid = rest.some(({ value }) => value?.type === 'response.output_item.done');
    return isSaid && rest.length < events.length ? writeEvents(rest) : undefined;
  },
};

/** How far the indexes of added calls are from those that were recorded. */
const OFFSET = 100;
const SUFFIX = '_again';

/** After each event its changed copy, if the change makes one. */
function doubleEvents(body: Buffer, change: (value: Value) => Value): Buffer | undefined {
  const events = readEvents(body);
  const all = events.flatMap((event) => {
    const changed = event.value === undefined ? undefined : change(clone(event.value));
    return changed === undefined ? [event] : [event, changeEvent(event, () => changed)];
  });
  return all.length > events.length ? writeEvents(all) : undefined;
}

const clone = (value: Value): Value => JSON.parse(JSON.stringify(value));

function readEvents(body: Buffer): readonly WireEvent[] {
  return body
    .toString('utf8')
    .split(/(?:\r?\n){2,}/)
    .filter((text) => text !== '')
    .map((text) => ({ text, ...readValue(text) }));
}

function readValue(text: string): { readonly value?: Value } {
  const data = /^data: ?(.*)$/m.exec(text)?.[1] ?? '';
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? { value } : {};
  } catch {
    return {};
  }
}

function changeEvent({ text, value }: WireEvent, change: (value: Value) => Value): WireEvent {
  const changed = change(clone(value));
  return { text: text.replace(/^data:.*$/m, () => `data: ${JSON.stringify(changed)}`), value: changed };
}

function writeEvents(events: readonly WireEvent[]): Buffer {
  return Buffer.from(events.map(({ text }) => `${text}\n\n`).join(''));
}
