// A provider without a network: it answers on this machine, so that everything around a model can be tried for nothing.
import { Buffer } from 'node:buffer';
import type {
  Host,
  ImageCall,
  ImageResult,
  ProviderPart,
  ProviderPlugin,
  TextCall,
} from '../../lib/plugin/contract.ts';
import { composeAnswer, countWords, cutWords, lastPrompt, readMarkers, type Seen } from './answer.ts';
import { mainColour } from './colours.ts';
import { draw, roomOf, sizeOf } from './drawing.ts';
import { createEye, type Eye } from './eye.ts';
import { sufferFrom } from './moods.ts';
import { createVideo } from './video.ts';

interface SandboxSettings {
  /** Pause before every word but the first. */
  readonly wordMs: number;
  /** What a video takes. */
  readonly videoMs: number;
}

const plugin: ProviderPlugin<SandboxSettings> = {
  contract: 1,
  name: 'sandbox',
  settings(joi) {
    const ms = () => joi.number().integer().min(0);
    return joi.object<SandboxSettings>({
      wordMs: ms().max(60_000).default(0),
      videoMs: ms().max(7_200_000).default(2000),
    });
  },
  create(settings, host) {
    const eye = createEye(host);
    return {
      text: (call, signal) => answer({ call, signal, host, settings, eye }),
      image: (call, signal) => makePicture({ call, signal, host, eye }),
      video: createVideo(settings, host),
    };
  },
};

export default plugin;

/** What `[[slow]]` waits before every word but the first. */
const SLOW_WORD_MS = 100;
/** And before a picture. */
const SLOW_PICTURE_MS = 5_000;

interface Calling<Call> {
  readonly call: Call;
  readonly signal: AbortSignal;
  readonly host: Host;
  readonly eye: Eye;
}

interface Answering extends Calling<TextCall> {
  readonly settings: SandboxSettings;
}

/** One word is one token, in the prompt and in the answer. */
async function* answer({ call, signal, host, settings, eye }: Answering): AsyncGenerator<readonly ProviderPart[]> {
  const markers = readMarkers(lastPrompt(call.messages));
  await sufferFrom(markers, host, signal);
  const composed = composeAnswer(call, markers.words, await see(call, eye, signal));
  const words = cutWords(composed, call.maxTokens);
  const sent = markers.failMid ? words.slice(0, Math.ceil(words.length / 2)) : words;
  const wordMs = markers.slow ? SLOW_WORD_MS : settings.wordMs;

  yield [{ type: 'start', model: call.model }, { type: 'usage', input: countWords(call), output: 0 }, ...BLOCK_START];
  for (const [at, text] of sent.entries()) {
    if (at > 0) await pause(wordMs, host, signal);
    yield [
      { type: 'block-delta', index: 0, text },
      { type: 'usage', output: at + 1 },
    ];
  }
  if (markers.failMid)
    throw host.fault.make('server', 'the prompt asked for a failure with [[fail-mid]]', { status: 500 });
  yield [
    { type: 'block-end', index: 0 },
    { type: 'finish', reason: words.length < composed.length ? 'length' : 'stop' },
  ];
}

const BLOCK_START: readonly ProviderPart[] = [{ type: 'block-start', index: 0, block: { type: 'text' } }];

/** So many pixels a side are enough to tell the main colour. */
const GLANCE = { width: 32, height: 32 };

/** Only the model `vision` looks at the pictures of the last message. */
async function see({ model, messages }: TextCall, eye: Eye, signal: AbortSignal): Promise<readonly Seen[]> {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? [];
  const pictures = content.filter((part) => part.type === 'image');
  if (model !== 'vision' || pictures.length === 0) return [];
  const sights = await eye(pictures, GLANCE, signal);
  return sights.map(({ width, height, rgb }, at) => {
    const format = pictures[at]?.mediaType.slice('image/'.length).toUpperCase() ?? '';
    return { format, width, height, colour: mainColour(rgb) };
  });
}

async function makePicture({ call, signal, host, eye }: Calling<ImageCall>): Promise<ImageResult> {
  const markers = readMarkers(call.prompt);
  await sufferFrom(markers, host, signal);
  if (markers.slow) await host.clock.sleep(SLOW_PICTURE_MS, signal);
  if (markers.empty) return { images: [] };
  if (markers.undecodable) return { images: [{ bytes: Buffer.from('[[undecodable]] asked for this') }] };
  const { prompt, images } = call;
  const size = sizeOf(call);
  const references = images.length > 0 ? await eye(images, roomOf(size, images.length), signal) : [];
  return { images: [{ bytes: await draw(prompt, size, references) }] };
}

/** At least a turn of the event loop, as between the packets of a real upstream. */
async function pause(wordMs: number, host: Host, signal: AbortSignal): Promise<void> {
  if (wordMs > 0) return host.clock.sleep(wordMs, signal);
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
