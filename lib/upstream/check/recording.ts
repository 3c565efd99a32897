// Recorded answers of upstreams, read from a plugin's `fixtures/`.
import { Buffer } from 'node:buffer';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Joi from 'joi';
import type { BlockState } from '../../stream/provider-part.ts';
import type {
  EmbedCall,
  FinishReason,
  ImageCall,
  RefusalCause,
  TextCall,
  UpstreamFaultKind,
  VideoCall,
  VideoRef,
} from '../contract/provider.ts';
import { FAULT_KINDS, REFUSAL_CAUSES } from '../host/fault.ts';
import { renameCause } from '../host/former-names.ts';
import { type AwsEvent, awsEvents, encodeAwsEvents } from './aws-events.ts';
import { encodeFrames, type Frames, type WriteFrame } from './frames.ts';
import { readJsonFile } from './json-file.ts';
import type { SeenCitation, SeenUsage } from './outcome.ts';
import { blockState, embedCall, imageCall, insertFiles, textCall, videoCall } from './recording-calls.ts';
import type { Format } from './sample-image.ts';

/** One recorded answer and what a provider must make of it; `docs/providers.md` explains every field. */
export type Recording = TextRecording | EmbedRecording | ImageRecording | VideoRecording;

interface Recorded {
  readonly name: string;
  /** Where the format or the quirk is documented. */
  readonly source: string;
  readonly about?: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  /** Answers to requests before the one that `reply` answers: for a token, or of a job. */
  readonly before: readonly Reply[];
  readonly reply: Reply;
}

/** What upstreams do rarely: a recording that shows one of these names it. */
const CASES = ['reasoning', 'interleaved', 'repeated', 'zeros', 'done'] as const;
export type CaseName = (typeof CASES)[number];

/**
 * What has to be recorded, or is derived or sent by the checks, unless the upstream never does it; `choice` is that of a
 * tool, `late` text behind a reason to end, `signed-body` a signature that changes with the body.
 */
const NEVER_CASES = [
  'tool',
  'choice',
  'limit',
  'filtered',
  'error',
  'failed',
  'late',
  'seconds',
  'resolution',
  'signed-body',
  ...CASES,
] as const;
export type NeverCase = (typeof NEVER_CASES)[number];

/** Said in place of a recording. */
export interface Never {
  readonly kind: Recording['kind'];
  readonly case: NeverCase;
  /** Why there is none. */
  readonly never: string;
}

export interface TextRecording extends Recorded {
  readonly kind: 'text';
  readonly case?: CaseName;
  readonly call: Omit<TextCall, 'options'>;
  readonly expect: Failing & {
    readonly text?: string;
    readonly finish?: FinishReason;
    readonly usage?: SeenUsage;
    readonly reasoning?: string;
    /** Of reasoning, in order. */
    readonly state?: readonly (string | BlockState)[];
    /** In order; `original` is the JSON of the upstream's own. */
    readonly citations?: readonly SeenCitation[];
    readonly tools?: readonly ExpectedCall[];
    /** In order; none by default. */
    readonly images?: readonly ExpectedImage[];
  };
}

/** An image of an answer. */
type ExpectedImage = Pick<ExpectedMedia, 'type' | 'size'>;

/** A tool call; without an id, any matches. */
interface ExpectedCall {
  readonly id?: string;
  readonly name: string;
  /** The arguments as written. */
  readonly json: string;
  readonly state?: string | BlockState;
}

export interface EmbedRecording extends Recorded {
  readonly kind: 'embed';
  readonly call: Omit<EmbedCall, 'options'>;
  readonly expect: Failing & {
    readonly vectors?: readonly (readonly number[])[];
    /** Null if the upstream does not count them. */
    readonly inputTokens?: number | null;
  };
}

interface ImageRecording extends Recorded {
  readonly kind: 'image';
  readonly call: Omit<ImageCall, 'options'>;
  readonly expect: Failing & { readonly images?: readonly ExpectedMedia[] };
}

export interface VideoRecording extends Recorded {
  readonly kind: 'video';
  readonly call: Omit<VideoCall, 'options'>;
  /** Given for a recording of a running job, which is then not started. */
  readonly ref?: VideoRef;
  /** The answer to each poll of the job. */
  readonly polls: readonly (readonly Reply[])[];
  /** The answer to the cancelling of the job, and what is asked. */
  readonly cancel?: Reply;
  readonly expect: Failing & { readonly ref?: object; readonly states?: readonly ExpectedState[] };
}

interface Failing {
  /** A kind, or one of the suite's own names: `truncated`, `empty`, `undecodable`. */
  readonly fault?: UpstreamFaultKind | 'truncated' | 'empty' | 'undecodable';
  readonly about?: RefusalCause;
}

/** A result by its bytes, or by its location. */
interface ExpectedMedia {
  readonly type?: Format;
  /** Of the bytes; not compared where it is not said. */
  readonly size?: number;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The result of a poll; a fault without a status is thrown, and says nothing about the job. */
export interface ExpectedState {
  readonly status?: 'queued' | 'processing' | 'completed' | 'failed';
  readonly progress?: number;
  readonly result?: ExpectedMedia;
  readonly fault?: UpstreamFaultKind;
  readonly about?: RefusalCause;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
  /** What the body is made of, where the recording says it in frames. */
  readonly frames?: Frames;
  /** By default the body ends as HTTP defines; `close`: by closing the connection; `reset`: the connection breaks. */
  readonly end?: 'close' | 'reset';
  /** What the request must look like. */
  readonly asked?: Asked;
}

/** What a request is compared with; absent fields are not compared. */
interface Asked {
  readonly method?: string;
  /** Including its query; `{{key}}` stands for the key, and says that it belongs there. */
  readonly path?: string;
  /** Names in lower case; `{{key}}` stands for the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the JSON, or the fields and files of a multipart body, must contain. */
  readonly request?: unknown;
}

const asked = {
  method: Joi.string(),
  path: Joi.string(),
  headers: Joi.object().pattern(Joi.string().lowercase(), Joi.string()),
  request: Joi.any(),
};

const reply = Joi.object({
  status: Joi.number().integer().min(200).max(599).default(200),
  headers: Joi.object()
    .pattern(Joi.string(), Joi.alternatives(Joi.string(), Joi.array().items(Joi.string())))
    .default({}),
  body: Joi.string().allow(''),
  bodyBase64: Joi.string().base64(),
  awsEvents,
  frames: Joi.array(),
  json: Joi.any(),
  end: Joi.valid('close', 'reset'),
  asked: Joi.object(asked),
}).oxor('body', 'bodyBase64', 'awsEvents', 'frames', 'json');

const tokens = Joi.number().integer().min(1);
const count = Joi.number().integer().min(0).allow(null);
const media = Joi.object({ type: Joi.string(), size: tokens, url: Joi.string(), headers: Joi.object() })
  .xor('type', 'url')
  .with('size', 'type');
const failing = {
  ...asked,
  fault: Joi.valid(...FAULT_KINDS, 'truncated', 'empty', 'undecodable'),
  about: Joi.custom((value, { error }) => {
    const cause = renameCause(value);
    return REFUSAL_CAUSES.includes(cause) ? cause : error('any.only', { valids: REFUSAL_CAUSES });
  }),
};

const EXPECTATIONS: Readonly<Record<Recording['kind'], Joi.ObjectSchema>> = {
  text: Joi.object({
    ...failing,
    text: Joi.string().allow(''),
    finish: Joi.valid('stop', 'length', 'filter', 'tool', 'other'),
    usage: Joi.object({
      input: count.required(),
      audio: tokens,
      cacheRead: tokens,
      cacheWrite: tokens,
      cacheWrite1h: tokens,
      output: count.required(),
      reasoning: tokens,
    }),
    reasoning: Joi.string().allow(''),
    state: Joi.array().items(Joi.string(), blockState),
    citations: Joi.array().items(
      Joi.object({
        url: Joi.string(),
        title: Joi.string(),
        quote: Joi.string(),
        document: count,
        range: Joi.object({ unit: Joi.valid('characters', 'pages', 'blocks').required(), start: count, end: count }),
        passage: Joi.object({ start: count.required(), end: count.required() }),
        original: Joi.object(),
      }),
    ),
    tools: Joi.array().items(
      Joi.object({
        id: Joi.string(),
        name: Joi.string().required(),
        json: Joi.string().required(),
        state: Joi.alternatives(Joi.string(), blockState),
      }),
    ),
    images: Joi.array().items(Joi.object({ type: Joi.string().required(), size: tokens })),
  }).xor('finish', 'fault'),
  embed: Joi.object({
    ...failing,
    vectors: Joi.array().items(Joi.array().items(Joi.number())),
    inputTokens: count,
  })
    .xor('vectors', 'fault')
    .with('vectors', 'inputTokens'),
  image: Joi.object({ ...failing, images: Joi.array().items(media) }).xor('images', 'fault'),
  video: Joi.object({
    ...failing,
    ref: Joi.object(),
    states: Joi.array().items(
      Joi.object({
        status: Joi.valid('queued', 'processing', 'completed', 'failed'),
        progress: Joi.number(),
        result: media,
        fault: failing.fault,
        about: failing.about,
      }).or('status', 'fault'),
    ),
  }).xor('states', 'fault'),
};

const CALLS: Readonly<Record<Recording['kind'], Joi.ObjectSchema>> = {
  text: textCall,
  embed: embedCall,
  image: imageCall,
  video: videoCall,
};

function createRecordingSchema(kind: Recording['kind']): Joi.ObjectSchema {
  const common = Joi.object({
    kind: Joi.valid(kind).default(kind),
    name: Joi.string().required(),
    source: Joi.string().required(),
    about: Joi.string(),
    settings: Joi.object().default({}),
    options: Joi.object().default({}),
    call: CALLS[kind].default(CALLS[kind].validate({}).value),
    before: Joi.array().items(reply).default([]),
    reply,
    expect: EXPECTATIONS[kind].required(),
  });
  if (kind === 'text') return common.keys({ case: Joi.valid(...CASES) }).fork('reply', (schema) => schema.required());
  if (kind !== 'video') return common.fork('reply', (schema) => schema.required());
  const looks = Joi.alternatives(Joi.array().items(reply).min(1), reply);
  const ref = Joi.object({ id: Joi.string().required() }).pattern(Joi.string(), Joi.string());
  return common.keys({ ref, polls: Joi.array().items(looks).default([]), cancel: reply }).xor('ref', 'reply');
}

const SCHEMAS = {
  text: createRecordingSchema('text'),
  embed: createRecordingSchema('embed'),
  image: createRecordingSchema('image'),
  video: createRecordingSchema('video'),
};

const neverSchema = Joi.object({
  kind: Joi.valid('text', 'embed', 'image', 'video').default('text'),
  case: Joi.valid(...NEVER_CASES).required(),
  never: Joi.string().min(8).required(),
});

/** All recordings of a plugin, in order of file and position; a wrong one throws with its file's name. */
export function loadRecordings(folder: string, writeFrame?: WriteFrame): readonly Recording[] {
  return listFixtures(folder).flatMap((file) => readRecordings(file, writeFrame));
}

/** What a plugin's fixtures say that its upstream never does. */
export function loadNevers(folder: string): readonly Never[] {
  return listFixtures(folder).flatMap((file) =>
    readEntries(file)
      .filter(isNever)
      .map((entry): Never => {
        const { value, error } = neverSchema.validate(entry, { convert: false, abortEarly: false });
        if (error) throw new Error(`${file}: ${error.message}`);
        return value;
      }),
  );
}

function listFixtures(folder: string): readonly string[] {
  const fixtures = join(folder, 'fixtures');
  if (!existsSync(fixtures)) return [];
  const files = readdirSync(fixtures).filter((name) => name.endsWith('.json'));
  return files.sort().map((name) => join(fixtures, name));
}

/** The recordings of one file: one object, or a list of them. */
function readRecordings(file: string, writeFrame: WriteFrame | undefined): readonly Recording[] {
  return readEntries(file)
    .filter((entry) => !isNever(entry))
    .map((entry) => parseRecording(entry, file, writeFrame));
}

function readEntries(file: string): readonly unknown[] {
  const parsed = readJsonFile(file);
  return Array.isArray(parsed) ? parsed : [parsed];
}

function isNever(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'never' in entry;
}

/** Checks one recording and fills in defaults; `where` goes into the error. */
export function parseRecording(entry: unknown, where: string, writeFrame?: WriteFrame): Recording {
  const kind = (entry as { kind?: unknown })?.kind ?? 'text';
  if (typeof kind !== 'string' || !Object.hasOwn(SCHEMAS, kind)) throw new Error(`${where}: unknown kind ${kind}`);
  const { value, error } = SCHEMAS[kind as Recording['kind']].validate(entry, { convert: false, abortEarly: false });
  if (error) throw new Error(`${where}: ${error.message}`);
  const { method, path, headers, request, ...expect } = value.expect;
  const toReply = (reply: WireReply) => parseReply(reply, where, writeFrame);
  const asks = { ...(method && { method }), ...(path && { path }), ...(headers && { headers }) };
  return {
    ...value,
    expect,
    call: insertFiles(value.call),
    before: value.before.map(toReply),
    reply: toReply({ ...value.reply, asked: { ...asks, ...(request !== undefined && { request }) } }),
    ...(value.cancel && { cancel: toReply(value.cancel) }),
    ...(value.polls && { polls: value.polls.map((poll: object) => [poll].flat().map(toReply)) }),
  };
}

interface WireReply {
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly awsEvents?: readonly AwsEvent[];
  readonly frames?: readonly unknown[];
  readonly json?: unknown;
}

function parseReply(wire: WireReply, where: string, write?: WriteFrame): Reply {
  const { body, bodyBase64, awsEvents, frames: values, json, ...rest } = wire;
  if (values && !write) throw new Error(`${where}: \`frames\` are written by \`fixtures/frame.js\`, and there is none`);
  const frames = values && write && { values, write };
  const text = json === undefined ? (body ?? '') : JSON.stringify(json);
  const binary = awsEvents ? encodeAwsEvents(awsEvents) : Buffer.from(bodyBase64 ?? '', 'base64');
  const plain = awsEvents || bodyBase64 !== undefined ? binary : Buffer.from(text);
  const bytes = frames ? encodeFrames(frames) : plain;
  const type = {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(awsEvents && { 'content-type': 'application/vnd.amazon.eventstream' }),
  };
  const { headers, ...more } = { status: 200, headers: {}, ...rest };
  return { ...more, headers: { ...type, ...headers }, body: bytes, ...(frames && { frames }) };
}
