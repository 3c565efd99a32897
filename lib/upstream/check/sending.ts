// Checks that what a call says reaches the upstream whole: what is recorded is one small call, which a constant would fit.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import type { BlockState } from '../../stream/provider-part.ts';
import type { Content, ImageInput, Provider, TextCall, TextMessage } from '../contract/provider.ts';
import type { NeverCase, Recording, TextRecording, VideoRecording } from './recording.ts';
import { createLargeImage } from './sample-image.ts';
import { describeSettings, onStage, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

type Call = Readonly<Record<string, unknown>>;

interface Sending {
  readonly name: string;
  /** What the upstream would never be told. */
  readonly never?: NeverCase;
  /** False where nothing is promised. */
  readonly concerns?: (provider: Provider, subject: Subject) => boolean;
  readonly play: (stage: TestBench, recording: Recording, subject: Subject) => Promise<void>;
}

const OF_EACH: readonly Sending[] = [
  {
    name: 'sends the model of the route',
    play: (stage, recording) => mustDiffer(stage, recording, { model: `${recording.call.model}-2` }, 'the model'),
  },
  {
    name: 'asks at the address that the route has',
    concerns: (_, { plugin }) => 'baseUrl' in describeSettings(plugin),
    play: asksAtRoute,
  },
];

const OF_KIND: Readonly<Record<Recording['kind'], readonly Sending[]>> = {
  text: [
    {
      name: 'sends the limit of tokens',
      never: 'limit',
      play: (stage, recording) => mustDiffer(stage, recording, { maxTokens: 217 }, 'the limit of tokens'),
    },
    { name: 'sends long texts whole', play: sendsLongTexts },
    {
      name: 'sends texts of the system where they come',
      concerns: ({ systemMessages }) => systemMessages === true,
      play: sendsSystem,
    },
    {
      name: 'sends documents whole',
      concerns: ({ documents }) => documents === true,
      play: (stage, own) => sendsFile(stage, own, 'document'),
    },
    {
      name: 'sends audio whole',
      concerns: ({ audio }) => audio === true,
      play: (stage, own) => sendsFile(stage, own, 'audio'),
    },
    {
      name: 'sends the markers of the cache',
      concerns: ({ cacheMarkers }) => cacheMarkers === true,
      play: sendsMarkers,
    },
  ],
  embed: [
    {
      name: 'sends long inputs whole',
      play: (stage, own) => sendsLong(stage, own, 'an input', (text) => ({ inputs: [text] })),
    },
  ],
  image: [
    { name: 'sends a long prompt whole', play: sendsLongPrompt },
    { name: 'sends each reference, or refuses the call', play: sendsReferences },
  ],
  video: [
    { name: 'sends a long prompt whole', play: sendsLongPrompt },
    { name: 'sends the resolution', never: 'resolution', play: sendsResolution },
    { name: 'sends the first frame, or refuses it', play: sendsFirstFrame },
    {
      name: 'sends the seconds',
      never: 'seconds',
      play: (stage, recording) =>
        mustDiffer(
          stage,
          recording,
          { seconds: (recording as VideoRecording).call.seconds === 10 ? 5 : 10 },
          'the seconds',
        ),
    },
  ],
};

export function sendingChecks(subject: Subject, kind: Recording['kind'], provider: Provider): readonly Check[] {
  const recording = ordinary(subject, kind);
  const isNever = (label: NeverCase | undefined) =>
    subject.nevers.some((never) => never.kind === kind && never.case === label);
  const asked = [...OF_EACH, ...OF_KIND[kind]].filter(
    ({ never, concerns }) => !isNever(never) && concerns?.(provider, subject) !== false,
  );
  const checks: [name: string, own: Recording, play: Sending['play']][] = asked.map(({ name, play }) => [
    name,
    recording,
    play,
  ]);
  const drawn = subject.recordings.find((each) => each.kind === kind && hasImage(each));
  if (drawn) checks.push(['sends images whole', drawn, sendsImages]);
  const stated = kind === 'text' ? subject.recordings.filter(hasState) : [];
  if (stated.length > 0) checks.push(['names the format of its states', recording, namesStateFormat]);
  for (const own of stated) {
    checks.push([`sends back what comes with its reasoning: ${own.name}`, own, sendsStates]);
  }
  return checks.map(([name, own, play]) => ({
    group: `asking for ${kind}`,
    name,
    run: () => onStage(subject.plugin, own.settings, (stage) => play(stage, stage.fill(own), subject)),
  }));
}

/** What is sent for a call that differs from the recorded one; empty if the plugin refuses it. */
export async function collectSent(
  stage: TestBench,
  recording: Recording,
  change: Call,
  options: Call = {},
): Promise<string> {
  const call = { ...recording.call, ...change };
  await stage.run({ ...recording, call, options: { ...recording.options, ...options } } as Recording);
  const sent = stage.replay.requests.map(({ method, path, headers, body }) => {
    const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1];
    const text = body.toString('latin1');
    return `${method} ${path}\n${boundary ? text.replaceAll(boundary, 'boundary') : text}`;
  });
  return sent.join('\n');
}

async function mustDiffer(stage: TestBench, recording: Recording, change: Call, what: string): Promise<void> {
  const [one, other] = [await collectSent(stage, recording, {}), await collectSent(stage, recording, change)];
  assert.notEqual(one, other, `${what} of a call changes nothing in what is sent`);
}

const ELSEWHERE = '/elsewhere/v7';

async function asksAtRoute(stage: TestBench, recording: Recording): Promise<void> {
  await collectSent(stage, recording, {}, { baseUrl: `${stage.place.origin}${ELSEWHERE}` });
  const paths = stage.replay.requests.map(({ path }) => path);
  const isThere = paths.length === 0 || paths.some((path) => path.startsWith(ELSEWHERE));
  assert(
    isThere,
    `a route with a \`baseUrl\` of its own is asked at ${paths[0]}: \`host.perRoute\` gives what it says`,
  );
}

const LONG_WORDS = 4000;

/** Of one word, so that no plugin has a reason to change it. */
function createLongText(name: string): string {
  return Array.from({ length: LONG_WORDS }, (_, at) => `${name}${at}`).join('');
}

async function sendsLongTexts(stage: TestBench, recording: Recording): Promise<void> {
  const [system, said, argument, result] = ['s', 'u', 'a', 'r'].map(createLongText) as [string, string, string, string];
  const messages: TextMessage[] = [{ role: 'user', content: [{ type: 'text', text: said }] }];
  const hasTools = stage.provider.tools === true;
  if (hasTools) {
    const json = JSON.stringify({ at: argument });
    messages.push(
      { role: 'assistant', content: [{ type: 'tool-call', id: 'call_1', name: 'look', json }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool-result',
            id: 'call_1',
            name: 'look',
            isError: false,
            content: [{ type: 'text', text: result }],
          },
        ],
      },
    );
  }
  const tools = { list: [{ name: 'look', schema: { type: 'object', properties: { at: { type: 'string' } } } }] };
  const change = { system: [{ type: 'text', text: system }], messages, ...(hasTools && { tools }) };
  const sent = await collectSent(stage, recording, change);
  const parts = {
    'a system prompt': system,
    'a message': said,
    ...(hasTools && { 'arguments of a call': argument, 'a result': result }),
  };
  for (const [what, text] of Object.entries(parts))
    assert(sent.includes(text), `${what} of ${text.length} characters is not sent whole`);
}

/** Vendors, and so their plugins, refuse what is too long for them; nobody cuts it. */
const LENGTHS = [3000, 900];

async function sendsLong(
  stage: TestBench,
  recording: Recording,
  what: string,
  toChange: (text: string) => Call,
): Promise<void> {
  for (const length of LENGTHS) {
    const text = `${createLongText('p').slice(0, length)}end`;
    const sent = await collectSent(stage, recording, toChange(text));
    if (sent === '') continue;
    assert(sent.includes(text), `${what} of ${text.length} characters is not sent whole`);
    return;
  }
}

function sendsLongPrompt(stage: TestBench, recording: Recording): Promise<void> {
  return sendsLong(stage, recording, 'a prompt', (prompt) => ({ prompt }));
}

const SIZES = new Map([
  ['720p', { width: 1280, height: 720 }],
  ['1080p', { width: 1920, height: 1080 }],
]);

/** A route says how its upstream spells a resolution; a model without resolutions has none. */
async function sendsResolution(stage: TestBench, recording: Recording): Promise<void> {
  if ((recording as VideoRecording).call.resolution === null) return;
  const resolutions = Object.fromEntries([...SIZES.keys()].map((label) => [label, label]));
  const sent: string[] = [];
  for (const [resolution, size] of SIZES) {
    sent.push(await collectSent(stage, recording, { resolution, size }, { resolutions, ...recording.options }));
  }
  assert(sent.includes('') || sent[0] !== sent[1], 'the resolution of a call changes nothing in what is sent');
}

/** Without one of them the image would be of something else, and paid. */
async function sendsReferences(stage: TestBench, recording: Recording): Promise<void> {
  const two = [createLargeImage(), createLargeImage(SECOND_BYTES)];
  for (const images of [two.slice(1), two]) {
    const sent = await collectSent(stage, recording, { images });
    if (sent === '') continue;
    for (const { bytes } of images)
      assertHasBytes(sent, bytes, images === two ? 'one of two references' : 'a reference');
  }
}

const SECOND_BYTES = 90_000;

/** A plugin whose upstream takes none refuses it: the video would be of something else, and paid. */
async function sendsFirstFrame(stage: TestBench, recording: Recording): Promise<void> {
  const image = createLargeImage();
  const sent = await collectSent(stage, recording, { image });
  if (sent !== '') assertHasBytes(sent, image.bytes, 'the first frame');
}

async function sendsSystem(stage: TestBench, recording: Recording): Promise<void> {
  const { messages } = recording.call as TextCall;
  const words = 'Answer in one word.';
  const system: TextMessage = { role: 'system', content: [{ type: 'text', text: words }] };
  const sent = await collectSent(stage, recording, { messages: [...messages, system, ...messages] });
  assert(sent.includes(words), 'a message of the system between others is not sent');
}

async function sendsFile(stage: TestBench, recording: Recording, type: 'document' | 'audio'): Promise<void> {
  const { messages } = recording.call as TextCall;
  const mediaType = type === 'audio' ? 'audio/wav' : 'application/pdf';
  const bytes = Uint8Array.from(Buffer.from(createLongText('f')));
  const file = { type, mediaType, bytes, ...(type === 'document' && { name: 'file.pdf' }) } as Content;
  const last = messages.at(-1) as TextMessage;
  const sent = await collectSent(stage, recording, {
    messages: [...messages.slice(0, -1), { ...last, content: [file, ...last.content] }],
  });
  assertHasBytes(sent, bytes, `${type} of ${bytes.length} bytes`);
}

async function sendsMarkers(stage: TestBench, recording: Recording): Promise<void> {
  const { messages } = recording.call as TextCall;
  const last = messages.at(-1) as TextMessage;
  const content = last.content.map((part) => ({ ...part, cache: { ttl: '5m' } }));
  await mustDiffer(
    stage,
    recording,
    { messages: [...messages.slice(0, -1), { ...last, content }] },
    'the marker of the cache',
  );
}

function hasImage({ kind, call, expect }: Recording): boolean {
  if (expect.fault !== undefined) return false;
  if (kind === 'image') return call.images.length > 0;
  if (kind === 'video') return call.image !== undefined;
  return kind === 'text' && call.messages.some(({ content }) => content.some(({ type }) => type === 'image'));
}

/** Each image replaced by a large one. */
async function sendsImages(stage: TestBench, recording: Recording): Promise<void> {
  const image = createLargeImage();
  const enlarge = (given: object) => ({ ...given, ...image });
  const {
    images,
    image: first,
    messages,
  } = recording.call as { images?: readonly ImageInput[]; image?: ImageInput; messages?: readonly TextMessage[] };
  const sent = await collectSent(stage, recording, {
    ...(images && { images: images.map(enlarge) }),
    ...(first && { image: enlarge(first) }),
    ...(messages && {
      messages: messages.map((message) => ({
        ...message,
        content: message.content.map((part) => (part.type === 'image' ? enlarge(part) : part)),
      })),
    }),
  });
  assertHasBytes(sent, image.bytes, `an image of ${image.bytes.length} bytes`);
}

function assertHasBytes(sent: string, bytes: Uint8Array, what: string): void {
  const buffer = Buffer.from(bytes);
  const spellings = [buffer.toString('base64'), buffer.toString('base64url'), buffer.toString('latin1')];
  assert(
    spellings.some((spelling) => sent.includes(spelling)),
    `${what} is not sent whole`,
  );
}

function hasState(recording: Recording): recording is TextRecording {
  if (recording.kind !== 'text' || recording.reply.status !== 200 || recording.expect.finish === undefined)
    return false;
  const { state, tools } = recording.expect;
  return (state?.length ?? 0) > 0 || tools?.some((call) => call.state !== undefined) === true;
}

/** Without the name, a tool loop may go on at a route that cannot read what this one began with. */
async function namesStateFormat(stage: TestBench, _own: Recording, subject: Subject): Promise<void> {
  const states = subject.recordings
    .filter(hasState)
    .flatMap(({ expect: { state = [], tools = [] } }) => [...state, ...tools.flatMap((call) => call.state ?? [])]);
  const { stateFormat } = stage.provider;
  const other = states.find((state) => typeof state === 'object' && state.format !== stateFormat) as BlockState;
  assert(
    other === undefined,
    `a state has the format ${other?.format}, but the provider's \`stateFormat\` is ${stateFormat ?? 'absent'}`,
  );
}

/** The answer goes back with its states, and without: what is sent must differ. */
async function sendsStates(stage: TestBench, recording: Recording): Promise<void> {
  const own = recording as TextRecording;
  const said = await collectAnswer(stage, own);
  assert(
    said.some((part) => 'state' in part),
    'the answer has no state, although the recording expects one',
  );
  const results = said.flatMap((part): Content[] =>
    part.type === 'tool-call'
      ? [
          {
            type: 'tool-result',
            id: part.id,
            name: part.name,
            isError: false,
            content: [{ type: 'text', text: 'Done.' }],
          },
        ]
      : [],
  );
  const follow = (content: readonly Content[]): Call => ({
    messages: [
      ...own.call.messages,
      { role: 'assistant', content },
      { role: 'user', content: results.length > 0 ? results : [{ type: 'text', text: 'Go on.' }] },
    ],
  });
  const bare = said.map((part) => {
    const { state: _, ...rest } = part as Content & { readonly state?: unknown };
    return rest as Content;
  });
  await collectSent(stage, own, {});
  const [whole, without] = [await collectSent(stage, own, follow(said)), await collectSent(stage, own, follow(bare))];
  assert.notEqual(whole, '', 'an answer that goes back with its states is refused');
  assert.notEqual(whole, without, 'what belongs to the reasoning is not sent back with it');
}

/** The blocks of an answer as the next call has them. */
async function collectAnswer(stage: TestBench, recording: TextRecording): Promise<readonly Content[]> {
  stage.replay.play({ before: recording.before, reply: recording.reply });
  const blocks = new Map<number, { content: Record<string, unknown>; text: string }>();
  for await (const parts of stage.parts(recording, AbortSignal.timeout(5000))) {
    for (const part of parts) {
      if (part.type === 'block-start') {
        const { type, ...rest } = part.block;
        blocks.set(part.index, { content: { type: type === 'tool' ? 'tool-call' : type, ...rest }, text: '' });
      }
      const block = 'index' in part ? blocks.get(part.index) : undefined;
      if (block && part.type === 'block-delta') block.text += part.text;
      if (block && part.type === 'block-state') block.content.state = part.state;
    }
  }
  return [...blocks.values()].flatMap(({ content, text }): Content[] => {
    if (content.type === 'tool-call') return [{ ...content, json: text || '{}' } as unknown as Content];
    return content.type === 'reasoning' || text.trim() !== '' ? [{ ...content, text } as unknown as Content] : [];
  });
}
