// Videos on a real store that fails on demand: the engine and the worker, with an upstream and a shelf that a test writes.
import { type CallContext, GONE } from '../../../lib/calls/context.ts';
import type { Ending } from '../../../lib/calls/ending.ts';
import { createRouteHealth } from '../../../lib/calls/health.ts';
import { toVideoId } from '../../../lib/calls/videos/job-id.ts';
import { openVideos, type Videos } from '../../../lib/calls/videos/open.ts';
import { computeVideoTerms } from '../../../lib/calls/videos/terms.ts';
import { buildCatalog, type Catalog } from '../../../lib/catalog/catalog.ts';
import type { OpenUpstream, VideoModel } from '../../../lib/catalog/model.ts';
import { createLedger, type Ledger } from '../../../lib/ledger/ledger.ts';
import type { KeepRequest } from '../../../lib/media/results.ts';
import type { Job } from '../../../lib/money/job-rules.ts';
import type { StoredMedia } from '../../../lib/store/ports/media.ts';
import type { MediaSource, VideoProvider, VideoRef, VideoState } from '../../../lib/upstream/contract/provider.ts';
import type { FaultyStore } from '../../../testkit/faulty-store.ts';

export const RUB = 1_000_000n;
/** Of five seconds, which the stage asks for. */
export const PRICE = 45n * RUB;
export const LEASE_MS = 300;

export const accepts: VideoProvider['start'] = async () => ({ id: 'up_1' });
export const deaf = (): Promise<never> => new Promise(() => undefined);
export const finished = async (): Promise<VideoState> => ({
  status: 'completed',
  result: { url: 'https://up-0.example/film.mp4' },
});
export const processing = async (): Promise<VideoState> => ({ status: 'processing', progress: 40 });

const STORED: StoredMedia = {
  id: 'f'.repeat(43),
  account: 'a',
  kind: 'video',
  mediaType: 'video/mp4',
  bytes: 3,
  createdAt: 1,
  expiresAt: 2,
};

export interface Behaviour {
  /** One route each, in order. */
  readonly starts?: readonly VideoProvider['start'][];
  readonly poll?: (ref: VideoRef, signal: AbortSignal) => Promise<VideoState>;
  readonly cancel?: (ref: VideoRef, signal: AbortSignal) => Promise<void>;
  readonly keep?: (source: MediaSource, request: KeepRequest) => Promise<StoredMedia>;
  readonly deadlineMs?: number;
  readonly startWithinMs?: number;
  readonly ledger?: { readonly answerWithinMs: number };
}

export interface VideoStage extends Videos {
  readonly ledger: Ledger;
  /** How often each route was asked to begin. */
  readonly asked: number[];
  readonly polled: VideoRef[];
  readonly kept: KeepRequest[];
  readonly cancelled: VideoRef[];
  readonly attempts: string[];
  /** What each poll has found. */
  readonly found: string[];
  readonly ended: string[];
  readonly logged: string[];
  /** Whether those whose lease is over may be taken for dead. */
  trusts: boolean;
  /** Begins a video of a wallet; never rejects. */
  begin(wallet: string, options?: { readonly controller?: AbortController }): Promise<Begun>;
}

export interface Begun {
  readonly id: string;
  readonly requestId: string;
  // biome-ignore lint/suspicious/noExplicitAny: a fault, or what no type would let through
  readonly thrown: any;
  readonly job: Job | undefined;
}

let count = 0;

/** A process on the store; `ownerId` names it. */
export function openStage(faulty: FaultyStore, ownerId: string, behaviour: Behaviour = {}): VideoStage {
  const { poll = finished, keep = async () => STORED, starts = [accepts], deadlineMs = 60_000 } = behaviour;
  const { startWithinMs = 5000, cancel } = behaviour;
  const { store, real } = faulty;
  const seen = {
    asked: starts.map(() => 0),
    polled: [] as VideoRef[],
    kept: [] as KeepRequest[],
    cancelled: [] as VideoRef[],
  };
  const told = { attempts: [] as string[], found: [] as string[], ended: [] as string[], logged: [] as string[] };
  const say = (_fields: object, message: string) => void told.logged.push(message);
  const log = { debug: say, info: say, warn: say, error: say };
  const ledger = createLedger({ store, ownerId, leaseMs: LEASE_MS, log, answerWithinMs: 300, ...behaviour.ledger });
  const catalog = catalogOf(
    starts.map((start, at) => ({
      start(call, signal) {
        seen.asked[at] = (seen.asked[at] ?? 0) + 1;
        return start(call, signal);
      },
      poll(ref, signal) {
        seen.polled.push(ref);
        return poll(ref, signal);
      },
      ...(cancel && {
        cancel(ref: VideoRef, signal: AbortSignal) {
          seen.cancelled.push(ref);
          return cancel(ref, signal);
        },
      }),
    })),
  );
  const results = {
    keep(source: MediaSource, request: KeepRequest) {
      seen.kept.push(request);
      return keep(source, request);
    },
  } as Parameters<typeof openVideos>[0]['results'];
  const stage = { trusts: true };
  const videos = openVideos({
    settings: {
      ownerId,
      leaseMs: LEASE_MS,
      videoPollMs: 10,
      videoDeadlineMs: deadlineMs,
      firstTokenTimeoutMs: startWithinMs,
      totalTimeoutMs: 10_000,
    },
    store,
    catalog: () => catalog,
    ledger,
    paidCalls: { owed: () => 0n },
    owner: { now: Date.now, canJudgeOthers: () => stage.trusts },
    health: createRouteHealth(),
    results,
    log,
    metrics: {
      onAttempt: (upstream: string, { type }: Ending) => void told.attempts.push(`${upstream} ${type}`),
      onPoll: (upstream, found) => void told.found.push(`${upstream} ${found}`),
      onJobEnd: (_job, how) => void told.ended.push(how),
    },
  });

  async function begin(wallet: string, { controller = new AbortController() } = {}): Promise<Begun> {
    count += 1;
    const requestId = `req_${count.toString(16).padStart(32, '0')}`;
    const callLog = { debug: () => undefined, warn: say, error: say, note: () => undefined };
    const context: CallContext = {
      requestId,
      accountId: wallet,
      keyId: 'key',
      signal: controller.signal,
      onFirst: () => undefined,
      log: callLog,
    };
    const model = catalog.models[0] as VideoModel;
    const asked = { seconds: 5, size: undefined, aspect: undefined, resolution: undefined };
    const request = { model, terms: computeVideoTerms(model, asked), prompt: 'a red square', image: undefined };
    const thrown = await videos.engine.start(request, context).then(
      () => undefined,
      (error: unknown) => error,
    );
    const id = toVideoId(requestId);
    return { id, requestId, thrown, job: await real.jobs.get(id) };
  }

  return Object.assign(stage, { ...videos, ledger, ...seen, ...told, begin });
}

function catalogOf(videos: readonly VideoProvider[]): Catalog {
  const upstreams = new Map<string, OpenUpstream>(
    videos.map((video, at) => [
      `up-${at}`,
      { provider: { video }, origin: `https://up-${at}.example`, proxy: 'http://proxy.example:3128' },
    ]),
  );
  const names = [...upstreams.keys()];
  const entry = { plugin: 'test', settings: {}, sandbox: false };
  return buildCatalog(
    {
      upstreams: Object.fromEntries(names.map((name) => [name, entry])),
      payments: {},
      models: [
        {
          id: 'film',
          aliases: [],
          type: 'video',
          provider: 'Test',
          order: 'listed',
          price: { second: '9' },
          routes: names.map((upstream) => ({ upstream, model: 'up-film', options: {} })),
        },
      ],
      smart: { lite: [], standard: [], heavy: [] },
      vision: [],
      defaults: { image: [], edit: [] },
      retired: {},
    },
    upstreams,
  );
}

/** A client that leaves when it is told to. */
export function client(): { readonly controller: AbortController; leave(): void } {
  const controller = new AbortController();
  return { controller, leave: () => controller.abort(GONE) };
}
