// A provider without a network: it answers on this machine, so that everything around a model can be tried for nothing.
import type { Host, ProviderPart, ProviderPlugin, TextCall } from '../../lib/plugin/contract.ts';
import { composeAnswer, countWords, cutWords, readMarkers } from './answer.ts';
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
  create: (settings, host) => ({
    text: (call, signal) => answer({ call, signal, host, settings }),
    video: createVideo(settings, host),
  }),
};

export default plugin;

/** What `[[slow]]` waits before every word but the first. */
const SLOW_WORD_MS = 100;

interface Answering {
  readonly call: TextCall;
  readonly signal: AbortSignal;
  readonly host: Host;
  readonly settings: SandboxSettings;
}

/** One word is one token, in the prompt and in the answer. */
async function* answer({ call, signal, host, settings }: Answering): AsyncGenerator<readonly ProviderPart[]> {
  const markers = readMarkers(call.messages);
  if (markers.stall) await untilAborted(signal);
  if (markers.fail) throw host.fault.make('server', 'the prompt asked for a failure with [[fail]]', { status: 500 });
  const composed = composeAnswer(call, markers.words);
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

/** At least a turn of the event loop, as between the packets of a real upstream. */
async function pause(wordMs: number, host: Host, signal: AbortSignal): Promise<void> {
  if (wordMs > 0) return host.clock.sleep(wordMs, signal);
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
