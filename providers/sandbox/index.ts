// A provider without a network: it answers on this machine, so that everything around a model can be tried for free.
import { Buffer } from 'node:buffer';
import type {
  Content,
  Host,
  ImageCall,
  ImageResult,
  ProviderPart,
  ProviderPlugin,
  TextCall,
  ToolCallContent,
} from '../../lib/upstream/contract/provider.ts';
import { composeAnswer, countWords, cutWords, findLastPrompt, type Seen } from './answer.ts';
import { planCalls } from './calls.ts';
import { findMainColour } from './colours.ts';
import { chooseSize, draw, measureRoom } from './drawing.ts';
import { createEye, type Eye } from './eye.ts';
import { failure, readWordCount, sufferFrom } from './markers.ts';
import { embed } from './vectors.ts';
import { createVideo } from './video.ts';

interface SandboxSettings {
  /** Pause before every word but the first. */
  readonly wordMs: number;
  /** How long a video takes. */
  readonly videoMs: number;
}

const plugin: ProviderPlugin<SandboxSettings> = {
  contract: 2,
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
      tools: true,
      text: (call, signal) => answer({ call, signal, host, settings, eye }),
      embed: (call, signal) => embed(call, host, signal),
      image: (call, signal) => makeImage({ call, signal, host, eye }),
      video: createVideo(settings, host),
    };
  },
};

export default plugin;

/** The pause of `[[slow]]` before every word but the first. */
const SLOW_WORD_MS = 100;
/** And before an image. */
const SLOW_IMAGE_MS = 5_000;
const DRAWN = { width: 256, height: 256, tokens: 250 };

interface Calling<Call> {
  readonly call: Call;
  readonly signal: AbortSignal;
  readonly host: Host;
  readonly eye: Eye;
}

interface Answering extends Calling<TextCall> {
  readonly settings: SandboxSettings;
}

/** One word is one token, in prompts and answers; so is a piece of a call's arguments. */
async function* answer({ call, signal, host, settings, eye }: Answering): AsyncGenerator<readonly ProviderPart[]> {
  const prompt = findLastPrompt(call.messages);
  const markers = await sufferFrom(prompt, host, signal);
  const calls = planCalls(call, prompt);
  const count = readWordCount(markers);
  const hasText = calls.length === 0 || count !== undefined;
  const composed = hasText ? composeAnswer(call, count, await see(call, eye, signal)) : [];
  const blocks = [...(hasText ? [textBlock(composed, call.maxTokens)] : []), ...calls.map(toolBlock)];
  const wordMs = markers.has('[[slow]]') ? SLOW_WORD_MS : settings.wordMs;
  const all =
    composed.length + blocks.reduce((sum, { block, pieces }) => sum + (block.type === 'tool' ? pieces.length : 0), 0);
  const kept = Math.min(all, call.maxTokens);
  const sent = markers.has('[[fail-mid]]') ? Math.ceil(kept / 2) : kept;

  const begun: readonly ProviderPart[] = [
    { type: 'start', model: call.model },
    { type: 'usage', input: countWords(call), output: 0 },
  ];
  let tokens = 0;
  for (const [index, { block, pieces }] of blocks.entries()) {
    if (tokens >= sent && tokens > 0) break;
    yield [...(index === 0 ? begun : []), { type: 'block-start', index, block }];
    for (const text of pieces.slice(0, sent - tokens)) {
      if (tokens > 0) await pause(wordMs, host, signal);
      tokens += 1;
      yield [
        { type: 'block-delta', index, text },
        { type: 'usage', output: tokens },
      ];
    }
    if (markers.has('[[fail-mid]]') && tokens === sent) throw failure('[[fail-mid]]', host);
    yield [{ type: 'block-end', index }];
  }
  if (markers.has('[[draw]]') && kept === all) {
    const base64 = Buffer.from(await draw(prompt, DRAWN)).toString('base64');
    yield [{ type: 'image', base64 }];
    yield [{ type: 'usage', output: tokens + DRAWN.tokens }];
  }
  const reason = calls.length > 0 ? 'tool' : 'stop';
  yield [{ type: 'finish', reason: kept < all ? 'length' : reason }];
}

type Block = Extract<ProviderPart, { readonly type: 'block-start' }>['block'];

interface Planned {
  readonly block: Block;
  readonly pieces: readonly string[];
}

function textBlock(words: readonly string[], maxTokens: number): Planned {
  return { block: { type: 'text' }, pieces: cutWords(words, maxTokens) };
}

const PIECE_CHARACTERS = 8;

function toolBlock({ id, name, json }: ToolCallContent): Planned {
  const pieces = json === '' ? ['{}'] : (json.match(PIECE) ?? []);
  return { block: { type: 'tool', id, name }, pieces };
}

const PIECE = new RegExp(`[^]{1,${PIECE_CHARACTERS}}`, 'gu');

/** This many pixels a side are enough to find the main colour. */
const GLANCE = { width: 32, height: 32 };

/** Only the model `vision` looks at the images of the last message. */
async function see({ model, messages }: TextCall, eye: Eye, signal: AbortSignal): Promise<readonly Seen[]> {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? [];
  const parts = content.flatMap((part): readonly Content[] => (part.type === 'tool-result' ? part.content : [part]));
  const images = parts.filter((part) => part.type === 'image');
  if (model !== 'vision' || images.length === 0) return [];
  const sights = await eye(images, GLANCE, signal);
  return sights.map(({ width, height, rgb }, at) => {
    const format = images[at]?.mediaType.slice('image/'.length).toUpperCase() ?? '';
    return { format, width, height, colour: findMainColour(rgb) };
  });
}

async function makeImage({ call, signal, host, eye }: Calling<ImageCall>): Promise<ImageResult> {
  const markers = await sufferFrom(call.prompt, host, signal);
  if (markers.has('[[slow]]')) await host.clock.sleep(SLOW_IMAGE_MS, signal);
  if (markers.has('[[empty]]')) return { images: [] };
  if (markers.has('[[undecodable]]')) return { images: [{ bytes: Buffer.from('[[undecodable]] asked for this') }] };
  const { prompt, images } = call;
  const size = chooseSize(call);
  const references = images.length > 0 ? await eye(images, measureRoom(size, images.length), signal) : [];
  return { images: [{ bytes: await draw(prompt, size, references) }] };
}

/** At least one tick of the event loop, as between the packets of a real upstream. */
async function pause(wordMs: number, host: Host, signal: AbortSignal): Promise<void> {
  if (wordMs > 0) return host.clock.sleep(wordMs, signal);
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
