// One attempt at one route: requests an image from the upstream and stores it, within the deadline and the call's signal.
import { fault } from '../../base/faults.ts';
import type { Route } from '../../catalog/model.ts';
import type { KeepRequest, Results } from '../../media/results.ts';
import type { StoredMedia } from '../../store/ports/media.ts';
import type { AnswerMemory } from '../../stream/answer-memory.ts';
import type { ImageCall, MediaSource } from '../../upstream/contract/provider.ts';
import { isUpstreamFault } from '../../upstream/host/fault.ts';
import { callPlugin, nameUpstream, type PluginRun } from '../../upstream/host/plugin-run.ts';
import type { CallContext } from '../context.ts';
import { attemptUntilDeadline } from '../deadline-attempt.ts';
import type { Ending } from '../ending.ts';

export interface AttemptOptions {
  readonly route: Route;
  readonly call: Omit<ImageCall, 'model' | 'options'>;
  readonly results: Results;
  readonly context: Pick<CallContext, 'signal' | 'accountId'>;
  /** Holds what the reply takes; released here. */
  readonly memory: AnswerMemory;
  /** By `performance.now()`. */
  readonly deadline: number;
  /** Called when the upstream has returned this many images. */
  readonly onImages: (count: number) => void;
  readonly onRun: (run: PluginRun) => void;
}

/** How long the links of results are retried while their files are missing; then another route is tried. */
const RESULT_PATIENCE_MS = 20_000;

/** One image is asked for; a list of thousands, each looked at in vain, would hold up all other calls. */
const IMAGES_MAX = 16;

/** Never rejects. */
export async function attemptImage(options: AttemptOptions): Promise<Ending<StoredMedia>> {
  const { context, deadline, memory } = options;
  let run: PluginRun | undefined;
  const onRun = (started: PluginRun) => {
    run = started;
    run.memory = memory;
    options.onRun(started);
  };
  const limits = { signal: context.signal, deadline };
  const ending = await attemptUntilDeadline(limits, (signal) => requestImage({ ...options, onRun }, signal));
  const isLate = ending.type === 'error' && ending.fault.data?.code === 'upstream_timeout';
  const isCrowdedOut = isLate && memory.isWaiting;
  // A plugin that goes on all the same must take no more of it.
  if (run) run.memory = undefined;
  memory.releaseAll();
  return isCrowdedOut ? { type: 'error', fault: fault('no_room_for_answer') } : ending;
}

async function requestImage(
  { route, call, results, context, deadline, onImages, onRun }: AttemptOptions,
  signal: AbortSignal,
): Promise<StoredMedia> {
  const { provider, model, options, upstream, origin, proxy } = route;
  if (!provider.image) throw new Error(`upstream ${upstream} cannot make images`);
  const { image } = provider;
  const request = { ...call, model, options };
  const name = nameUpstream(upstream);
  const made = await callPlugin(name, signal, (inner) => image.call(provider, request, inner), onRun);
  const images = made.images.slice(0, IMAGES_MAX);
  if (images.length === 0) throw fault('upstream_empty');
  onImages(images.length);
  const { accountId: account } = context;
  // Another route needs time, too.
  const leftMs = (deadline - performance.now()) / 2;
  const giveUpAt = deadline - leftMs;
  const patienceMs = Math.min(RESULT_PATIENCE_MS, leftMs) / images.length;
  const kept: KeepRequest = { kind: 'image', account, upstreamOrigin: origin, proxy, patienceMs, signal };
  return keepFirstWhole(images, giveUpAt, (source) => results.keep(source, kept));
}

/** The vendor bills them all: a broken one is no reason to have another route make more. */
async function keepFirstWhole(
  images: readonly MediaSource[],
  giveUpAt: number,
  keep: (source: MediaSource) => Promise<StoredMedia>,
): Promise<StoredMedia> {
  let broken: unknown;
  for (const image of images) {
    try {
      return await keep(image);
    } catch (error) {
      if (!isUpstreamFault(error)) throw error;
      broken ??= error;
      if (performance.now() > giveUpAt) break;
    }
  }
  throw broken;
}
