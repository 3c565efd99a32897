// Reads the items of a responses request.

import { isRecord } from '../../../base/record.ts';
import type { RequestContent, RequestMessage, RequestResult } from '../../../calls/text/request.ts';
import type { ReasoningContent, TextContent, ToolCallContent } from '../../../upstream/contract/provider.ts';
import { isCompaction } from '../../../upstream/formats/responses/item.ts';
import { readPhase } from '../../../upstream/formats/responses/message-content.ts';
import { OpenCalls, type ReadingCall, readCalled, readCustomCall } from '../calls.ts';
import { createResult, type FoundFiles, readContent, readDrawnImage, startReading } from '../content.ts';
import { invalidField } from '../fields.ts';
import { describeContents, placeResults, type ReadMessages, textsIn } from '../messages.ts';
import { readReasoningItem } from '../reasoning-content.ts';
import type { PlacedTool } from '../tools.ts';
import { COMPACTION_TRIGGER, openSummary } from './compaction.ts';
import { CONFIGURATION_UPDATE } from './configuration.ts';
import { isClientSearch, joinToolName } from './tools.ts';
import { isLeftOut, readCompaction, readVendorCall, readVendorOutput, type VendorCall } from './vendor-items.ts';

type Item = Readonly<Record<string, unknown>>;

const ROLES: readonly unknown[] = ['user', 'assistant', 'system', 'developer'];

const REFERENCE_HINT =
  'refers to a stored item, but nothing is stored here; send the item itself, as clients do with `store: false` ' +
  '(in the AI SDK: `providerOptions: { openai: { store: false } }`)';

export function readInput(input: string | readonly unknown[]): ReadMessages {
  const history = new History();
  if (typeof input === 'string') history.take({ role: 'user', content: input }, 'input', 'input');
  else for (const [at, item] of input.entries()) history.take(item, `input[${at}]`);
  return history.read();
}

/** What a vendor would have encrypted is plain here: see `withoutEncryption`. */
function readPlain(content: unknown): unknown {
  return Array.isArray(content) ? content.map(readPlainPart) : content;
}

function readPlainPart(part: unknown): unknown {
  if (!isRecord(part) || part.type !== 'encrypted_content') return part;
  return { type: 'text', text: part.encrypted_content };
}

/** The tools that clients tell within the conversation, some of them all. Throws 400 faults that name the field. */
export function listAddedTools(input: string | readonly unknown[]): readonly PlacedTool[] {
  if (typeof input === 'string') return [];
  return input.flatMap((item, at) => {
    if (!isRecord(item) || !bringsTools(item)) return [];
    const field = `input[${at}].tools`;
    if (!Array.isArray(item.tools)) throw invalidField(field, 'must be an array of tools');
    return item.tools.map((tool: unknown, within) => ({ tool, field: `${field}[${within}]` }));
  });
}

function bringsTools(item: Item): boolean {
  return item.type === 'additional_tools' || (item.type === 'tool_search_output' && isClientSearch(item));
}

function markPhase(content: readonly RequestContent[], phase: string): readonly RequestContent[] {
  return content.map((part) => (part.type === 'text' ? { ...part, phase } : part));
}

interface PlacedOutput {
  readonly call_id?: unknown;
  readonly output?: unknown;
  readonly isError?: boolean;
  readonly idField: string;
  /** Of the output. */
  readonly field: string;
}

interface OpenAnswer {
  readonly content: RequestContent[];
  /** More than reasoning. */
  hasText: boolean;
  hasCalls: boolean;
}

/** What belongs to one turn of the assistant is one message, and so are results. */
class History {
  readonly #system: TextContent[] = [];
  readonly #messages: RequestMessage[] = [];
  /** The last message of the assistant: what follows may belong to it. */
  #answer: OpenAnswer | undefined;
  #isAnswerLast = false;
  readonly #calls = new OpenCalls();
  readonly #found: FoundFiles = { hasAny: false, images: 0 };
  /** Of calls that ran at the vendor, until a message follows them. */
  readonly #results: RequestResult[] = [];
  /** For the next message. */
  readonly #compacted: ReasoningContent[] = [];
  #prompt: { readonly content: readonly RequestContent[]; readonly field: string } | undefined;

  take(item: unknown, field: string, contentField = `${field}.content`): void {
    if (!isRecord(item)) throw invalidField(field, 'must be an object');
    const { type = 'message' } = item;
    switch (type) {
      case 'message':
        this.#takeMessage(item, field, contentField);
        break;
      case 'agent_message':
        this.#takeAgentMessage(item, contentField);
        break;
      case 'reasoning':
        this.#addAssistant(() => [readReasoningItem(item, field)]);
        break;
      case 'function_call':
        this.#addCall(item, field, (named, reading) =>
          readCalled({ ...named, arguments: item.arguments ?? '' }, reading),
        );
        break;
      case 'custom_tool_call':
        this.#addCall(item, field, (named, reading) =>
          readCustomCall({ ...named, input: item.input ?? null }, reading),
        );
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        if (this.#isDelivery(item)) this.#takeMessage({ role: 'user', content: item.output }, field, `${field}.output`);
        else this.#takeResult({ ...item, idField: `${field}.call_id`, field: `${field}.output` });
        break;
      case 'image_generation_call':
        this.#takeImage(item, field);
        break;
      case 'additional_tools':
      case CONFIGURATION_UPDATE:
      case COMPACTION_TRIGGER:
        // Read with the tools and the settings of the request.
        break;
      case 'item_reference':
        throw invalidField(`${field}.type`, REFERENCE_HINT);
      default:
        if (typeof type !== 'string') throw invalidField(`${field}.type`, 'must be a string');
        this.#takeVendorItem({ ...item, type }, field);
    }
  }

  /** A result of no call: what a client's tool brings of its own accord, such as the task of another thread. */
  #isDelivery({ call_id: id, name }: Item): boolean {
    return (id == null || id === '') && typeof name === 'string' && !this.#calls.hasOpen;
  }

  /** An image that was not finished is left out. */
  #takeImage(item: Item, field: string): void {
    const image = readDrawnImage(item, `${field}.result`, startReading('assistant', this.#calls, this.#found));
    if (image) this.#addAssistant(() => [image]);
  }

  #takeVendorItem(item: Item & { readonly type: string }, field: string): void {
    const { type } = item;
    const call = readVendorCall(item);
    const output = readVendorOutput(item);
    const summary = isCompaction(type) ? openSummary(item, field) : undefined;
    const compaction = summary === undefined ? readCompaction(item, field) : undefined;
    if (summary !== undefined) this.#takeMessage({ role: 'user', content: summary }, field, field);
    else if (call) this.#takeVendorCall(call, field);
    else if (output) {
      const { id, idName, content, isError } = output;
      this.#takeResult({
        call_id: id,
        output: content,
        isError,
        idField: `${field}.${idName}`,
        field: `${field}.output`,
      });
    } else if (compaction) this.#compacted.push(compaction);
    else if (!isLeftOut(type)) throw invalidField(`${field}.type`, `must not be ${type}: no model takes it here`);
  }

  #takeVendorCall({ id, idName, name, json, result }: VendorCall, field: string): void {
    const idField = `${field}.${idName}`;
    this.#addCall({ call_id: id, name, idField }, field, (named, reading) =>
      readCalled({ ...named, arguments: json }, reading),
    );
    if (!result) return;
    const reading = startReading('tool', this.#calls, this.#found);
    const call = this.#calls.answer(id, idField);
    this.#results.push({ ...createResult(call, readContent(result.content, field, reading)), isError: result.isError });
  }

  #takeMessage({ role, content, ...item }: Item, field: string, place: string): void {
    if (typeof role !== 'string' || !ROLES.includes(role)) {
      throw invalidField(`${field}.role`, 'must be one of user, assistant, system, developer');
    }
    const reading = startReading(role, this.#calls, this.#found);
    if (role === 'assistant') {
      const startsMessage = this.#answer?.hasText && !this.#answer.hasCalls;
      const phase = readPhase(item);
      const read = () => (content == null ? [] : readContent(content, place, reading));
      this.#addAssistant(() => (phase === undefined ? read() : markPhase(read(), phase)), { startsMessage });
      return;
    }
    const read = readContent(content, place, reading);
    if (role !== 'user') {
      this.#takeSystem(textsIn(read));
      return;
    }
    this.#prompt = { content: read, field: place };
    this.#addUser(read);
  }

  /** What one agent of the client writes to another: for the model that reads it, a message of its user. */
  #takeAgentMessage({ content }: Item, place: string): void {
    this.#takeMessage({ role: 'user', content: readPlain(content) }, place, place);
  }

  /** Clients add to it as they go: what comes after other messages stays there, or the prompt would begin anew. */
  #takeSystem(texts: readonly TextContent[]): void {
    if (!this.#calls.hasOpen) this.#flushResults();
    if (this.#messages.length === 0) this.#system.push(...texts);
    else if (texts.length > 0) this.#addOther({ role: 'system', content: texts });
  }

  #addCall(
    { call_id: id, name, namespace, idField }: Item & { readonly idField?: string },
    field: string,
    read: (named: { readonly name: unknown }, reading: ReadingCall) => ToolCallContent,
  ): void {
    const isInside = typeof namespace === 'string' && typeof name === 'string';
    const named = { name: isInside ? joinToolName(namespace, name) : name };
    const reading = { id, field, idField: idField ?? `${field}.call_id`, calls: this.#calls };
    this.#addAssistant(() => [read(named, reading)], { isCall: true });
  }

  #takeResult({ call_id: id, output, isError = false, idField, field }: PlacedOutput): void {
    const call = this.#calls.answer(id, idField);
    const reading = startReading('tool', this.#calls, this.#found);
    this.#addUser([{ ...createResult(call, readContent(readPlain(output ?? ''), field, reading)), isError }]);
  }

  /** What starts a message does not belong to the one before. */
  #addAssistant(read: () => readonly RequestContent[], { startsMessage = false, isCall = false } = {}): void {
    // Results of calls that ran beside open ones come with theirs.
    if (!isCall && !this.#calls.hasOpen) this.#flushResults();
    const continued = this.#findContinued(startsMessage);
    const added = read();
    if (added.length === 0) return;
    const answer = continued ?? this.#startAnswer();
    for (const part of [...this.#compacted.splice(0), ...added]) {
      answer.content.push(part);
      answer.hasText ||= part.type !== 'reasoning';
      answer.hasCalls ||= part.type === 'tool-call';
    }
  }

  /** While calls are open, what follows belongs to their message, even behind the results of others. */
  #findContinued(startsMessage: boolean): OpenAnswer | undefined {
    if (this.#calls.hasOpen) return this.#answer;
    return this.#isAnswerLast && !startsMessage ? this.#answer : undefined;
  }

  #startAnswer(): OpenAnswer {
    const answer: OpenAnswer = { content: [], hasText: false, hasCalls: false };
    this.#messages.push({ role: 'assistant', content: answer.content });
    this.#answer = answer;
    this.#isAnswerLast = true;
    return answer;
  }

  #addOther(message: RequestMessage): void {
    this.#messages.push(message);
    this.#isAnswerLast = false;
  }

  #addUser(content: readonly RequestContent[]): void {
    this.#flushResults();
    if (content.length > 0) this.#addOther({ role: 'user', content: [...this.#compacted.splice(0), ...content] });
  }

  #flushResults(): void {
    if (this.#results.length > 0) this.#addOther({ role: 'user', content: this.#results.splice(0) });
  }

  /** A compaction after everything else belongs to the last message. */
  #end(): void {
    this.#flushResults();
    const last = this.#messages.at(-1);
    if (!last) return;
    const content = [...last.content, ...this.#compacted.splice(0)];
    this.#messages[this.#messages.length - 1] = { ...last, content };
  }

  read(): ReadMessages {
    this.#end();
    if (!this.#prompt) throw invalidField('input', 'must contain a message with role user');
    const { content, field } = this.#prompt;
    if (content.length === 0) throw invalidField(field, 'the last user message must contain text or an image');
    this.#calls.checkNone();
    return {
      system: this.#system,
      // Reasoning alone says nothing to a model.
      messages: placeResults(this.#messages).filter(({ content }) => content.some(({ type }) => type !== 'reasoning')),
      ...describeContents(this.#found, this.#calls),
    };
  }
}
