// Renders parts as events of a response, and whole responses.
import { toFault } from '../../../base/faults.ts';
import { flattenString } from '../../../base/flat-string.ts';
import type { SmartRouting } from '../../../base/smart-tiers.ts';
import {
  type CollectedBlock,
  type CollectedReply,
  type CollectedText,
  type Collector,
  createCollector,
} from '../../../stream/collect.ts';
import type {
  BillingPart,
  ErrorPart,
  FinishReason,
  ReplyBlockStartPart,
  ReplyImagePart,
  ReplyStartPart,
  StreamPart,
} from '../../../stream/part.ts';
import type { Transform } from '../../../stream/pipeline.ts';
import type { BlockState, Citation, UsageCounts } from '../../../stream/provider-part.ts';
import { writeResponsesAnnotations } from '../../../upstream/formats/citations.ts';
import { CustomInput, readCustomInput } from '../custom-input.ts';
import type { AnsweredCall } from '../dialect.ts';
import { escapeText } from '../escape.ts';
import { beginCompaction, type CompactionItem, completeItems, writeCompaction } from './compaction.ts';
import type { ResponsesEcho } from './echo.ts';
import { type ResponsesFailure, responsesFailure } from './fault.ts';
import { listImageEvents, writeImageItem } from './image-item.ts';
import {
  describeCompacted,
  describeEnd,
  describeResponse,
  findToolName,
  type ItemStatus,
  isRefusedText,
  type OutputItem,
  type ResponseFacts,
  unixSeconds,
  writeItem,
  writeItemId,
  writePart,
  writeSummary,
} from './response.ts';

/** The item that is being written. */
interface OpenItem extends OutputItem {
  readonly kind: EventKind;
  /** Where its fragments and parts belong. */
  readonly place: object;
  text: string;
  state: BlockState | undefined;
  citations?: Citation[];
  /** The input of a custom tool. */
  readonly custom: CustomInput | undefined;
  /** What precedes the number of a fragment's event, its text, and what follows. */
  readonly head: string;
  readonly middle: string;
  readonly tail: string;
}

/** A class: it has the state of one response. Only fragments are written by templates. */
class ResponsesRenderer implements Transform<StreamPart, string> {
  readonly #echo: ResponsesEcho;
  readonly #createdAt = unixSeconds();
  #id: string;
  #model: string;
  #smart: SmartRouting | undefined;
  #isBegun = false;
  #sequence = 0;
  /** The items that are complete, which the last event repeats. */
  readonly #output: object[] = [];
  #open: OpenItem | undefined;
  #usage: UsageCounts = {};
  #reason: FinishReason = 'other';
  #hasRefused = false;
  /** Of the texts before the open item. */
  #characters = 0;
  /** The answer, if it is the summary of a compaction. */
  readonly #summary: Collector | undefined;

  constructor({ id, echo }: AnsweredCall) {
    this.#id = id;
    this.#echo = echo as ResponsesEcho;
    this.#model = this.#echo.model;
    if (this.#echo.compacts) this.#summary = createCollector();
  }

  push(batch: readonly StreamPart[]): readonly string[] {
    let text = '';
    for (const part of batch) text += this.#summary ? this.#collect(part, this.#summary) : this.#render(part);
    return text === '' ? [] : [text];
  }

  /** Nothing of a summary is shown before it is whole. */
  #collect(part: StreamPart, summary: Collector): string {
    if (part.type === 'error') return this.#fail(part);
    summary.write([part]);
    if (part.type === 'billing') return this.#compact(summary.reply(), part);
    return part.type === 'start' || part.type === 'usage' || part.type === 'finish' ? this.#render(part) : '';
  }

  #compact(reply: CollectedReply, billing: BillingPart): string {
    let item: CompactionItem;
    try {
      item = writeCompaction(reply);
    } catch (error) {
      return this.#fail({ type: 'error', fault: toFault(error) });
    }
    this.#output.push(item);
    return (
      this.#writeEvent('output_item.added', { output_index: 0, item: beginCompaction(item) }) +
      this.#writeEvent('output_item.done', { output_index: 0, item }) +
      this.#complete(billing)
    );
  }

  #render(part: StreamPart): string {
    switch (part.type) {
      case 'block-delta':
        return this.#writeFragment(part.text);
      case 'usage':
        this.#usage = part;
        return '';
      case 'start':
        return this.#start(part);
      case 'block-start':
        return this.#closeItem('completed') + this.#openItem(part);
      case 'block-state':
        if (this.#open) this.#open.state = part.state;
        return '';
      case 'block-citation':
        if (this.#open) this.#open.citations = [...(this.#open.citations ?? []), part.citation];
        return '';
      case 'image':
        return this.#closeItem('completed') + this.#writeImage(part);
      case 'finish':
        return this.#finish(part.reason);
      case 'billing':
        return this.#complete(part);
      case 'error':
        return this.#fail(part);
      // An item is closed by what follows it: only then is its status known.
      case 'block-end':
      case 'hidden':
        return '';
    }
  }

  #start({ id = this.#id, model = this.#model, smart }: Partial<ReplyStartPart>): string {
    this.#id = id;
    this.#model = model;
    this.#smart = smart;
    this.#isBegun = true;
    const begun = { status: 'in_progress', output: [] } as const;
    return this.#writeLifecycle('created', begun) + this.#writeLifecycle('in_progress', begun);
  }

  #openItem({ block }: ReplyBlockStartPart): string {
    const item = { replyId: this.#id, index: this.#output.length, block, names: this.#echo.names };
    const kind = findEventKind(item);
    const place = describePlace(item, kind);
    this.#hasRefused ||= kind === 'refusal';
    this.#open = {
      ...item,
      kind,
      place,
      text: '',
      state: undefined,
      custom: kind === 'custom_tool_call_input' ? new CustomInput() : undefined,
      head: flattenString(`event: response.${kind}.delta\ndata: {"type":"response.${kind}.delta","sequence_number":`),
      middle: flattenString(`,${JSON.stringify(place).slice(1, -1)},"delta":"`),
      tail: kind === 'output_text' ? '","logprobs":[]}\n\n' : '"}\n\n',
    };
    const added = { output_index: item.index, item: writeItem(item, { status: 'in_progress', text: '' }) };
    const begun = this.#writeEvent('output_item.added', added);
    if (block.type !== 'text') return begun;
    return begun + this.#writeEvent('content_part.added', { ...place, part: writePart(block, '') });
  }

  #writeImage(image: ReplyImagePart): string {
    const place = { replyId: this.#id, index: this.#output.length };
    const item = writeImageItem(image, place);
    this.#output.push(item);
    return listImageEvents(item, place)
      .map(({ name, data }) => this.#writeEvent(name, data))
      .join('');
  }

  #writeFragment(text: string): string {
    const open = this.#open as OpenItem;
    // The arguments of a search have no events.
    if (open.kind === 'tool_search') {
      open.text += text;
      return '';
    }
    const passed = open.custom ? open.custom.push(text) : text;
    if (open.custom && passed === '') return '';
    const begun = open.text === '' && open.block.type === 'reasoning' ? this.#beginSummary(open) : '';
    open.text += passed;
    return `${begun}${open.head}${this.#takeNumber()}${open.middle}${escapeText(passed)}${open.tail}`;
  }

  #beginSummary({ place }: OpenItem): string {
    return this.#writeEvent('reasoning_summary_part.added', { ...place, part: writeSummary('') });
  }

  #closeItem(status: ItemStatus): string {
    const open = this.#open;
    if (!open) return '';
    const rest = open.custom ? this.#endInput(open, open.custom) : '';
    this.#open = undefined;
    const { index, block, place, text, state } = open;
    const start = this.#characters;
    if (block.type === 'text') this.#characters += text.length;
    const annotations = writeResponsesAnnotations(open.citations ?? [], { start, end: start + text.length });
    const item = writeItem(open, { status, text, state, annotations });
    const annotated = this.#annotate(annotations, place);
    const ends = this.#endParts(open, annotations);
    this.#output.push(item);
    return rest + annotated + ends + this.#writeEvent('output_item.done', { output_index: index, item });
  }

  /** What is missing of the input, as one more fragment. */
  #endInput(open: OpenItem, input: CustomInput): string {
    const missing = input.end();
    if (missing === '') return '';
    open.text += missing;
    return this.#writeEvent('custom_tool_call_input.delta', { ...open.place, delta: missing });
  }

  #annotate(annotations: readonly object[], place: object): string {
    const write = (annotation: object, index: number) =>
      this.#writeEvent('output_text.annotation.added', { ...place, annotation_index: index, annotation });
    return annotations.map(write).join('');
  }

  #endParts({ kind, block, text, names, place }: OpenItem, annotations: readonly object[]): string {
    switch (kind) {
      case 'output_text':
      case 'refusal': {
        const said = kind === 'refusal' ? { refusal: text } : { text, logprobs: [] };
        const part = writePart(block, text, annotations);
        return (
          this.#writeEvent(`${kind}.done`, { ...place, ...said }) +
          this.#writeEvent('content_part.done', { ...place, part })
        );
      }
      case 'reasoning_summary_text':
        if (text === '') return '';
        return (
          this.#writeEvent('reasoning_summary_text.done', { ...place, text }) +
          this.#writeEvent('reasoning_summary_part.done', { ...place, part: writeSummary(text) })
        );
      case 'function_call_arguments': {
        const { name } = block.type === 'tool' ? findToolName(block, names) : { name: '' };
        return this.#writeEvent('function_call_arguments.done', { ...place, name, arguments: text });
      }
      case 'custom_tool_call_input':
        return this.#writeEvent('custom_tool_call_input.done', { ...place, input: text });
      case 'tool_search':
        return '';
    }
  }

  #finish(reason: FinishReason): string {
    this.#reason = reason;
    return this.#closeItem(describeEnd(reason, { hasRefused: this.#hasRefused }).status);
  }

  #complete(billing: BillingPart): string {
    const ended = describeEnd(this.#reason, { hasRefused: this.#hasRefused });
    return this.#writeLifecycle(ended.status, { ...ended, output: this.#output, usage: this.#usage, billing });
  }

  /** Clients expect the beginning of a response before its failure. */
  #fail({ fault }: ErrorPart): string {
    const begun = this.#isBegun ? this.#dropOpen() : this.#start({});
    const error = responsesFailure(fault);
    return (
      begun +
      this.#writeError(error) +
      this.#writeLifecycle('failed', { status: 'failed', output: this.#output, error })
    );
  }

  /** As at the vendor, before the response that failed: many clients take a stream without it for a short answer. */
  #writeError({ code, type, message }: ResponsesFailure): string {
    const own = { code, message, param: null };
    const data = { type: 'error', sequence_number: this.#takeNumber(), ...own, error: { type, ...own } };
    return `event: error\ndata: ${JSON.stringify(data)}\n\n`;
  }

  /** What was delivered of the last item remains with the client as it is. */
  #dropOpen(): string {
    return this.#open && this.#open.text !== '' ? this.#closeItem('incomplete') : '';
  }

  #writeEvent(name: string, data: object): string {
    const type = `response.${name}`;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#takeNumber(), ...data })}\n\n`;
  }

  /** An event with the whole response. */
  #writeLifecycle(name: string, facts: Omit<ResponseFacts, 'id' | 'createdAt' | 'model' | 'smart'>): string {
    const type = `response.${name}`;
    const own = { id: this.#id, createdAt: this.#createdAt, model: this.#model, smart: this.#smart };
    const response = `${JSON.stringify(describeResponse({ ...own, ...facts })).slice(0, -1)},${this.#echo.members}}`;
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#takeNumber()},"response":${response}}\n\n`;
  }

  /** Of the next event. */
  #takeNumber(): number {
    const number = this.#sequence;
    this.#sequence += 1;
    return number;
  }
}

/** The first word of a fragment's event. */
type EventKind =
  | 'output_text'
  | 'refusal'
  | 'reasoning_summary_text'
  | 'function_call_arguments'
  | 'custom_tool_call_input'
  | 'tool_search';

function findEventKind({ block, names }: OutputItem): EventKind {
  if (block.type === 'text') return isRefusedText(block) ? 'refusal' : 'output_text';
  if (block.type === 'reasoning') return 'reasoning_summary_text';
  const { isCustom, isSearch } = findToolName(block, names);
  if (isSearch) return 'tool_search';
  return isCustom ? 'custom_tool_call_input' : 'function_call_arguments';
}

function describePlace(item: OutputItem, kind: EventKind): object {
  const place = { item_id: writeItemId(item), output_index: item.index };
  if (kind === 'output_text' || kind === 'refusal') return { ...place, content_index: 0 };
  return kind === 'reasoning_summary_text' ? { ...place, summary_index: 0 } : place;
}

export function createResponsesRenderer(call: AnsweredCall): Transform<StreamPart, string> {
  return new ResponsesRenderer(call);
}

export function responsesReply(reply: CollectedReply, { echo }: AnsweredCall): object {
  const { names, members, compacts, kept } = echo as ResponsesEcho;
  const { id, model, blocks, usage, reason, billing, smart } = reply;
  const ended = describeEnd(reason, {
    hasRefused: blocks.some((block) => block.type !== 'image' && isRefusedText(block)),
  });
  let start = 0;
  const listItem = (block: CollectedBlock, index: number) => {
    if (block.type === 'image') return writeImageItem(block, { replyId: id, index });
    const status = index === blocks.length - 1 ? ended.status : 'completed';
    const item = { replyId: id, index, block, names };
    const annotations = writeResponsesAnnotations(block.citations ?? [], { start, end: start + block.text.length });
    if (block.type === 'text') start += block.text.length;
    return writeItem(item, { status, text: readBlockText(block, item), state: block.state, annotations });
  };
  const output = compacts ? [writeCompaction(reply)] : blocks.map(listItem);
  const facts = { id, createdAt: unixSeconds(), model, ...ended, output, usage, billing, smart };
  if (kept) return describeCompacted({ ...facts, output: [...completeItems(kept, id), ...output] });
  return { ...describeResponse(facts), ...(JSON.parse(`{${members}}`) as object) };
}

function readBlockText(block: CollectedText, item: OutputItem): string {
  return findEventKind(item) === 'custom_tool_call_input' ? readCustomInput(block.text) : block.text;
}
