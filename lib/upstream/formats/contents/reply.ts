// Reads replies in the contents format: the chunks of a text, or the images of one reply.
import { Buffer } from 'node:buffer';
import type { BlockState } from '../../../stream/provider-part.ts';
import type {
  AnswerReader,
  AnswerWriter,
  Host,
  JsonObject,
  MediaSource,
  TokenCounts,
} from '../../contract/provider.ts';
import { isFields, readFields, readObjects } from '../../host/fields.ts';
import { readCount } from '../../host/token-counts.ts';
import { AnswerId } from '../answer-id.ts';
import { readSources } from '../citations.ts';
import { CONTENTS_FORMAT } from '../names.ts';
import { OddEvents } from '../odd-events.ts';

type Kit = Pick<Host, 'fault' | 'finishReason'>;

/** Reads one reply. */
export class ContentsReply implements AnswerReader {
  readonly #kit: Kit;
  readonly #odd: OddEvents;
  readonly #id = new AnswerId();
  /** What the chunks so far have counted. */
  readonly #usage: Record<string, unknown> = {};
  #calls = 0;
  #signatures = 0;
  #hasContent = false;
  #hasReason = false;
  /** The pages cited so far. */
  #cited: Set<string | undefined> | undefined;

  constructor(kit: Kit) {
    this.#kit = kit;
    this.#odd = new OddEvents(kit);
  }

  take(chunk: JsonObject, out: AnswerWriter): void {
    if (chunk.error) throw this.#kit.fault.ofComplaint(chunk, true);
    if (!chunk.candidates && !chunk.usageMetadata && !chunk.promptFeedback) this.#odd.refuse(chunk);
    const candidate = firstCandidate(chunk.candidates);
    if (this.#id.isOther(chunk.responseId, this.#hasReason) && readParts(candidate).some(hasContent)) {
      out.done('another answer');
      return;
    }
    out.start({ id: chunk.responseId, model: chunk.modelVersion });
    this.#count(chunk.usageMetadata, out);
    this.#takeBlock(chunk, out);
    for (const part of readParts(candidate)) this.#takePart(part, out);
    if (isFields(candidate.groundingMetadata)) this.#takeGrounding(candidate.groundingMetadata, out);
    const reason = this.#kit.finishReason(candidate.finishReason);
    if (reason) out.finish(reason, `${candidate.finishReason}`);
    this.#hasReason ||= reason !== undefined;
  }

  end(_out: AnswerWriter, marked: boolean): void {
    if (marked && !this.#hasReason) this.#odd.check();
  }

  /** A count that a chunk leaves out keeps its last value; a total belongs to its chunk alone. */
  #count(usage: unknown, out: AnswerWriter): void {
    if (!isFields(usage) || isUncounted(usage)) return;
    for (const name of COUNTS) if (usage[name] !== undefined) this.#usage[name] = usage[name];
    out.usage(readCounts({ ...this.#usage, totalTokenCount: usage.totalTokenCount }));
  }

  /** A block after the first words ends the answer; before them, it refuses the request. */
  #takeBlock(chunk: JsonObject, out: AnswerWriter): void {
    const { blockReason } = readFields(chunk.promptFeedback);
    if (!this.#hasContent) refuseBlocked(chunk, this.#kit);
    else if (this.#kit.finishReason(blockReason)) out.finish('filter', `${blockReason}`);
  }

  #takePart(part: JsonObject, out: AnswerWriter): void {
    const { text, thought, functionCall } = part;
    this.#odd.forget();
    this.#hasContent ||= Boolean(functionCall ?? text);
    if (functionCall) {
      this.#takeCall(part, out);
      return;
    }
    if (typeof text === 'string' && text !== '') {
      if (thought) out.reasoning(text);
      else out.text(text);
    } else if (text === undefined && Object.keys(part).length > 0 && !this.#takeImage(part, out)) out.alive();
    this.#takeSignature(part, out);
  }

  /** A call arrives whole. */
  #takeCall({ functionCall, thoughtSignature }: JsonObject, out: AnswerWriter): void {
    const { id, name, args } = readFields(functionCall);
    this.#calls += 1;
    out.tool({ block: `call ${this.#calls}`, id, name, json: args, state: readState(thoughtSignature), done: true });
  }

  /** Drafts drawn while the model reasons are not results. */
  #takeImage({ inlineData, thought }: JsonObject, out: AnswerWriter): boolean {
    const { mimeType, data } = readFields(inlineData);
    if (thought || typeof data !== 'string' || !`${mimeType}`.startsWith('image/')) return false;
    this.#hasContent = true;
    out.image({ mediaType: mimeType, base64: data });
    return true;
  }

  /** A signature goes back where it came: its thought, or a block of its own behind a text, which may be empty. */
  #takeSignature({ thought, thoughtSignature }: JsonObject, out: AnswerWriter): void {
    const state = readState(thoughtSignature);
    if (!state) return;
    this.#signatures += 1;
    if (thought) out.state(state);
    else out.state(state, `signature ${this.#signatures}`);
  }

  /** Places in the text are in bytes there: a page is cited for all of it. */
  #takeGrounding({ groundingChunks: chunks }: JsonObject, out: AnswerWriter): void {
    this.#cited ??= new Set();
    for (const citation of readSources(readObjects(chunks).map(({ web }) => web))) {
      if (!this.#cited.has(citation.url)) out.cite(citation);
      this.#cited.add(citation.url);
    }
  }
}

/** All but the total. */
const COUNTS = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'promptTokensDetails',
  'cacheTokensDetails',
];

/** Further candidates are other answers to the same question. */
function firstCandidate(candidates: unknown): JsonObject {
  return readObjects(candidates).find(({ index }) => Number(index ?? 0) === 0) ?? {};
}

/** No prompt is empty: such zeros are what servers report instead of counts. */
function isUncounted({ promptTokenCount: prompt, cachedContentTokenCount, candidatesTokenCount }: JsonObject): boolean {
  return readCount(prompt) === 0 && !readCount(cachedContentTokenCount) && !readCount(candidatesTokenCount);
}

function readState(signature: unknown): BlockState | undefined {
  return typeof signature === 'string' && signature !== '' ? { format: CONTENTS_FORMAT, value: signature } : undefined;
}

/**
 * Every chunk counts all tokens so far. The prompt includes what was read from the cache; what server tools added to it,
 * and the reasoning beside the answer, are counted apart, unless the total says that they are included.
 */
function readCounts(usage: JsonObject): TokenCounts {
  const prompt = readCount(usage.promptTokenCount);
  const cacheRead = readCount(usage.cachedContentTokenCount);
  const answer = readCount(usage.candidatesTokenCount);
  const reasoning = readCount(usage.thoughtsTokenCount);
  const tools = readCount(usage.toolUsePromptTokenCount);
  const total = readCount(usage.totalTokenCount);
  const isInside = total !== undefined && total === (prompt ?? 0) + (answer ?? 0) && (reasoning ?? 0) <= (answer ?? 0);
  const beside = isInside ? 0 : (reasoning ?? 0);
  const read = cacheRead ?? 0;
  const whole = prompt === undefined ? undefined : prompt + (isInside ? 0 : (tools ?? 0));
  const input = whole !== undefined && read <= whole ? whole - read : whole;
  const audio = readAudio(usage, input);
  // Tokens of the total that no count explains were produced.
  const rest = total === undefined || whole === undefined ? 0 : total - whole - (answer ?? 0) - beside;
  const output = (answer ?? 0) + beside + Math.max(rest, 0);
  return {
    ...(input !== undefined && { input: input - (audio ?? 0) }),
    ...(audio !== undefined && { audio }),
    ...(whole !== undefined && cacheRead !== undefined && { cacheRead }),
    ...((answer !== undefined || reasoning !== undefined || rest > 0) && { output }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/** The audio of a prompt that was not read from the cache; undefined if it has none. */
function readAudio({ promptTokensDetails, cacheTokensDetails }: JsonObject, input = 0): number | undefined {
  const audio = countAudio(promptTokensDetails);
  return audio && Math.min(Math.max(0, audio - (countAudio(cacheTokensDetails) ?? 0)), input);
}

function countAudio(details: unknown): number | undefined {
  return readCount(readObjects(details).find(({ modality }) => modality === 'AUDIO')?.tokenCount);
}

/** Drafts drawn while the model reasons are not results. Throws if there is no image because of the content. */
export function readImages(value: unknown, kit: Kit): readonly MediaSource[] {
  const { fault, finishReason } = kit;
  const reply = readFields(value);
  if (reply.error) throw fault.ofComplaint(reply, true);
  refuseBlocked(reply, kit);
  const candidates = readObjects(reply.candidates);
  const parts = candidates.flatMap((candidate) => readParts(candidate));
  // Some relays keep the names of the vendor's own libraries.
  const images = parts.flatMap(({ inline_data: named, inlineData = named, thought }) => {
    const { data } = readFields(inlineData);
    return typeof data === 'string' && !thought ? [{ bytes: Buffer.from(data, 'base64') }] : [];
  });
  if (images.length > 0) return images;
  const refused = candidates.find((candidate) => finishReason(candidate.finishReason) === 'filter');
  if (!refused) return images;
  throw fault.make('request', `${refused.finishReason}: ${refused.finishMessage ?? ''}`, { about: 'content' });
}

/** A refused prompt is a reply with status 200 and a reason in place of candidates. */
function refuseBlocked({ promptFeedback }: JsonObject, { fault, finishReason }: Kit): void {
  const { blockReason } = readFields(promptFeedback);
  if (finishReason(blockReason)) throw fault.make('request', `prompt blocked: ${blockReason}`, { about: 'content' });
}

function hasContent({ text, functionCall, inlineData }: JsonObject): boolean {
  return Boolean(text || functionCall || inlineData);
}

function readParts({ content }: JsonObject): readonly JsonObject[] {
  return readObjects(readFields(content).parts);
}
