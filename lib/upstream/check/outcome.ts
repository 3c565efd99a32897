// The outcome of a call, run the way the gateway runs it, in terms that recordings are compared with.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import type { Fault } from '../../base/faults.ts';
import { Guard } from '../../stream/guard.ts';
import type { ErrorPart, ReplyToolBlock, StreamPart } from '../../stream/part.ts';
import { pipeline } from '../../stream/pipeline.ts';
import type { BlockState, Citation, FinishPart, UsageCounts, UsagePart } from '../../stream/provider-part.ts';
import type {
  EmbedCall,
  Embeddings,
  FinishReason,
  ImageResult,
  MediaSource,
  ProviderPart,
  RefusalCause,
  VideoRef,
} from '../contract/provider.ts';
import { PLUGIN_FORMAT } from '../formats/names.ts';
import { toClientFault } from '../host/client-fault.ts';
import { checkEmbeddings } from '../host/embed.ts';
import { isUpstreamFault } from '../host/fault.ts';
import { parseFields } from '../host/fields.ts';
import { withIdleLimit } from './patience.ts';
import { detectFormat, type Format } from './sample-image.ts';

export interface Outcome {
  /** A kind, `truncated`, `empty`, `undecodable`, or whatever was thrown that is not a fault. */
  readonly fault: string | undefined;
  readonly about: RefusalCause | undefined;
  /** When the upstream wants to be asked again. */
  readonly retryAfterMs: number | undefined;
  /** What the operator's log would show. */
  readonly detail: string;
  /** What a client would get from it; empty if nothing. */
  readonly content: string;
}

export interface TextOutcome extends Outcome {
  readonly text: string;
  readonly finish: FinishReason | undefined;
  /** The upstream's own word for the finish, if the provider passes it on. */
  readonly raw: string | undefined;
  readonly usage: SeenUsage;
  /** The text of all reasoning. */
  readonly reasoning: string;
  /** What has to go back with reasoning, in order. */
  readonly states: readonly (string | BlockState)[];
  /** What the texts are based on. */
  readonly citations: readonly SeenCitation[];
  /** Tool calls, including broken-off ones. */
  readonly tools: readonly SeenCall[];
  /** The images of the answer. */
  readonly images: readonly Media[];
}

/** A citation whose original is no text but its value. */
export interface SeenCitation extends Omit<Citation, 'original'> {
  readonly original?: unknown;
}

/** The last counts; input and output are null where there are none, the others absent, or where they are zero. */
export interface SeenUsage extends Omit<UsageCounts, 'input' | 'output'> {
  readonly input: number | null;
  readonly output: number | null;
}

interface SeenCall {
  readonly id: string;
  readonly name: string;
  readonly json: string;
  /** A state that only the upstream's own plugin reads is a string. */
  readonly state?: string | BlockState;
}

/** A result in short. */
interface Media {
  readonly type?: Format | undefined;
  /** Of its bytes. */
  readonly size?: number;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface EmbedOutcome extends Outcome {
  readonly vectors: readonly (readonly number[])[];
  readonly inputTokens: number | null;
}

export interface ImageOutcome extends Outcome {
  readonly images: readonly Media[];
}

export interface StartOutcome extends Outcome {
  readonly ref: VideoRef | undefined;
}

/** No recorded answer takes longer; a call that does is hanging. */
const CALL_MS = 5_000;

/** With the caller's signal, or until it hangs. */
function observe<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return signal ? work(signal) : withIdleLimit(CALL_MS, work);
}

const NONE = { fault: undefined, about: undefined, retryAfterMs: undefined, detail: '' };

/** Runs a source to its end through the guard, as the gateway does; `tools` if the call offers some. */
export function observeText(
  start: (signal: AbortSignal) => AsyncIterable<readonly ProviderPart[]>,
  signal?: AbortSignal,
  tools = false,
): Promise<TextOutcome> {
  return observe(signal, (own) => runText(start, own, tools));
}

async function runText(
  start: (signal: AbortSignal) => AsyncIterable<readonly ProviderPart[]>,
  signal: AbortSignal,
  tools: boolean,
): Promise<TextOutcome> {
  const seen: StreamPart[] = [];
  const batches = pipeline<ProviderPart | ErrorPart, StreamPart>({
    source: () => start(signal),
    transforms: [
      new Guard({ outputMax: Number.POSITIVE_INFINITY, calls: tools ? 'any' : 'none', showsReasoning: true }),
    ],
    signal,
    onError(error) {
      assert(!signal.aborted, `the call hangs: no end after ${CALL_MS} ms`);
      return { type: 'error', fault: toClientFault(error) };
    },
  });
  for await (const batch of batches) seen.push(...batch);
  for (const part of seen) {
    assert(part.type !== 'block-delta' || part.text.isWellFormed(), 'a fragment has half a character');
    if (part.type === 'usage') checkCounts(part);
  }
  return summarise(seen);
}

function checkCounts({ type: _, ...counts }: UsagePart): void {
  for (const [name, count] of Object.entries(counts)) {
    assert(Number.isSafeInteger(count) && count >= 0, `the usage has ${name} of ${count}, which is no count`);
  }
  const { output, reasoning } = counts;
  const isPart = output === undefined || reasoning === undefined || reasoning <= output;
  assert(isPart, `the usage has more reasoning, ${reasoning}, than output, ${output}`);
}

function summarise(parts: readonly StreamPart[]): TextOutcome {
  const texts = { text: '', reasoning: '', tool: '' };
  const states: (string | BlockState)[] = [];
  const citations: SeenCitation[] = [];
  const images: Media[] = [];
  let open: keyof typeof texts = 'text';
  const tools: (SeenCall & { json: string })[] = [];
  let finish: FinishPart | undefined;
  const usage: { -readonly [Name in keyof SeenUsage]: SeenUsage[Name] } = { input: null, output: null };
  let failure: Fault | undefined;
  for (const part of parts) {
    if (part.type === 'block-start') {
      open = part.block.type;
      if (part.block.type === 'tool') tools.push(createSeenCall(part.block));
    } else if (part.type === 'block-state') states.push(shortenState(part.state));
    else if (part.type === 'block-citation') citations.push(parseOriginal(part.citation));
    else if (part.type === 'image') images.push(describeBytes(Buffer.from(part.base64, 'base64')));
    else if (part.type === 'block-delta') {
      const last = open === 'tool' ? tools.at(-1) : undefined;
      if (last) last.json += part.text;
      else texts[open] += part.text;
    } else if (part.type === 'finish') finish = part;
    else if (part.type === 'error') failure = part.fault;
    else if (part.type === 'usage') {
      const { type: _, ...counts } = part;
      Object.assign(usage, counts);
    }
  }
  for (const name of ['audio', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'reasoning'] as const) {
    if (usage[name] === 0) delete usage[name];
  }
  const { text, reasoning } = texts;
  const failed = failure ? observeFailure(failure) : NONE;
  const content = [
    text,
    ...[tools, images].filter(({ length }) => length > 0).map((list) => JSON.stringify(list)),
  ].join('');
  const ended = { finish: finish?.reason, raw: finish?.raw, usage };
  return { ...failed, content, text, ...ended, reasoning, states, citations, tools, images };
}

function parseOriginal({ original, ...citation }: Citation): SeenCitation {
  if (!original) return citation;
  const value = parseFields(original.value);
  assert(value, `the original of a citation is no JSON: ${original.value}`);
  return { ...citation, original: value };
}

function createSeenCall({ id, name, state }: ReplyToolBlock): SeenCall & { json: string } {
  if (!state) return { id, name, json: '' };
  return { id, name, state: shortenState(state), json: '' };
}

function shortenState(state: BlockState): string | BlockState {
  return state.format === PLUGIN_FORMAT ? state.value : state;
}

/** Runs a call for embeddings, and checks its result as the gateway does. */
export function observeEmbed(
  start: (signal: AbortSignal) => Promise<Embeddings>,
  call: Omit<EmbedCall, 'options'>,
  given?: AbortSignal,
): Promise<EmbedOutcome> {
  const nothing: Found<EmbedOutcome> = { content: '', vectors: [], inputTokens: null };
  return observeResult(start, given, nothing, (result) => {
    const { vectors, inputTokens = null } = checkEmbeddings(result, call);
    const numbers = vectors.map((vector) => [...vector]);
    return { content: JSON.stringify(numbers), vectors: numbers, inputTokens };
  });
}

/** Runs an image call. */
export function observeImage(
  start: (signal: AbortSignal) => Promise<ImageResult>,
  at: Place,
  given?: AbortSignal,
): Promise<ImageOutcome> {
  const nothing: Found<ImageOutcome> = { content: '', images: [] };
  return observeResult(start, given, nothing, (result) => {
    assert(Array.isArray(result?.images), 'the result has no list of images');
    const images = result.images.map((source) => describeMedia(source, at));
    if (images.length === 0) return { ...nothing, fault: 'empty' };
    const isUnknown = images.some(({ type, url }) => type === undefined && url === undefined);
    return isUnknown ? { ...nothing, fault: 'undecodable' } : { content: JSON.stringify(images), images };
  });
}

/** Submits a video. */
export function observeStart(
  start: (signal: AbortSignal) => Promise<VideoRef>,
  { key }: Place,
  given?: AbortSignal,
): Promise<StartOutcome> {
  const nothing: Found<StartOutcome> = { content: '', ref: undefined };
  return observeResult(start, given, nothing, (ref) => {
    assert(typeof ref?.id === 'string' && ref.id !== '', 'the ref of a job has no id');
    const isPlain = Object.values(ref).every((value) => typeof value === 'string');
    assert(isPlain, `the ref of a job is no object of strings: ${JSON.stringify(ref)}`);
    assert(!JSON.stringify(ref).includes(key), 'the ref of a job holds the key');
    return { content: ref.id, ref };
  });
}

/** What an outcome has beside a failure. */
type Found<Out extends Outcome> = Omit<Out, keyof typeof NONE>;

/** What `read` finds in the result of a call; nothing if it fails. */
function observeResult<Result, Read>(
  start: (signal: AbortSignal) => Promise<Result>,
  given: AbortSignal | undefined,
  nothing: Read,
  read: (result: Result) => Read & { readonly fault?: string },
): Promise<Read & Omit<Outcome, 'content'>> {
  return observe(given, async (signal) => {
    try {
      return { ...NONE, ...read(await within(start(signal), signal)) };
    } catch (error) {
      assert(!signal.aborted, `the call hangs: no end after ${CALL_MS} ms`);
      return { ...observeFailure(error), ...nothing };
    }
  });
}

/** A stage's address, and the key that must not leave it. */
export interface Place {
  readonly origin: string;
  readonly key: string;
}

/** Stands for the address of the replay in a recording. */
export const ORIGIN = '{{origin}}';
export const KEY = '{{key}}';

/** A result in the terms of a recording; a key sent to another host is a breach. */
export function describeMedia(source: MediaSource, { origin, key }: Place): Media {
  if ('bytes' in source) return describeBytes(source.bytes);
  const url = URL.parse(source.url);
  assert(url && /^https?:$/.test(url.protocol), `a result is at no URL: ${source.url}`);
  const headers = Object.entries(source.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const hasKey = [source.url, ...headers.map(([, value]) => value)].some((text) => text.includes(key));
  assert(url.origin === origin || !hasKey, `the key would go to ${url.origin}`);
  const shown = headers.map(([name, value]) => [name, value.replaceAll(key, KEY)]);
  return {
    url: source.url.replaceAll(origin, ORIGIN),
    ...(headers.length > 0 && { headers: Object.fromEntries(shown) }),
  };
}

function describeBytes(bytes: Uint8Array): Media {
  return { type: detectFormat(bytes), size: bytes.length };
}

/** What a call threw, in the terms of a recording. */
export function observeFailure(error: unknown): Omit<Outcome, 'content'> {
  if (error instanceof assert.AssertionError) throw error;
  const { cause, data } = toClientFault(error);
  const detail = cause instanceof Error ? cause.message : '';
  const { about, retryAfterMs } = isUpstreamFault(cause) ? cause : {};
  return { fault: nameFault(data?.code, cause), about, retryAfterMs, detail };
}

function nameFault(code: string | undefined, cause: unknown): string {
  if (code === 'upstream_truncated') return 'truncated';
  if (isUpstreamFault(cause)) return cause.kind;
  if (code === 'upstream_image') return 'undecodable';
  // Or filtered until nothing was left.
  if (code === 'upstream_empty' || code === 'upstream_content') return 'empty';
  return `something else than a fault was thrown: ${cause}`;
}

/** A call that ignores its signal is abandoned. */
export function within<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    Promise.resolve(running).then(resolve, reject);
  });
}
