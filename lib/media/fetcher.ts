// Fetches pictures that clients link to and results that upstreams made, and posts to owners' URLs: only to public
// https hosts and trusted origins, over connections to checked addresses.
import { type Fault, fault } from '../base/faults.ts';
import type { UpstreamFault, UpstreamFaultKind } from '../upstream/contract/provider.ts';
import { upstreamFault } from '../upstream/host/fault.ts';
import { type Dial, dialAddress } from './connect.ts';
import { abortableDelay, waitForStep, withDeadline } from './deadline.ts';
import { type FailureReason, FetchFailure } from './failure.ts';
import { followRedirects, type Network, REDIRECTS_MAX, requestOnce } from './hop.ts';
import { type ByteBudget, type Image, tooLarge } from './image.ts';
import { readImageReply } from './image-reply.ts';
import { type Resolve, systemResolvers } from './resolve.ts';
import { openResult, type RemoteResult } from './result.ts';
import { readUrl, type UrlRefusal, type UrlRules, urlFault } from './url.ts';

export interface FetcherOptions {
  /** Origins as `readOrigins` returns them: exempt from the rules for scheme, port and address. */
  readonly trustedOrigins?: ReadonlySet<string>;
  /** Base of the gateway's own links: nothing on its host is fetched. */
  readonly ownOrigin?: string;
  /** CA certificates to trust instead of Node's own. */
  readonly ca?: string;
  /** Resolves all names instead of the name servers and the system. */
  readonly resolve?: Resolve;
  /** Opens all connections instead of the system. */
  readonly dial?: Dial;
  readonly limits?: Partial<FetchLimits>;
}

export interface FetchLimits {
  /** For an image, from the first look at its URL to its last byte. */
  readonly imageMs: number;
  /** For a post, until the head of its answer. */
  readonly postMs: number;
  /** Failures to reach an image or a receiver are reported at whole multiples of this. */
  readonly stepMs: number;
  /** For a result: in all, and without a byte. */
  readonly resultMs: number;
  readonly resultIdleMs: number;
}

const LIMITS: FetchLimits = { imageMs: 10_000, postMs: 10_000, stepMs: 1_000, resultMs: 600_000, resultIdleMs: 30_000 };

/** Between two attempts at a result. */
const RESULT_PAUSE_MS = { first: 250, most: 4000 };

/** What may come before a finished result is there. */
const LATE: ReadonlySet<FailureReason> = new Set([
  'status',
  'unsupported',
  'broken',
  'slow',
  'no-connection',
  'unknown-host',
]);

/** Result URLs carry signatures. */
const RESULT_URL_LENGTH_MAX = 8192;

export interface ImageRequest {
  /** The request field that faults name. */
  readonly field: string;
  readonly signal: AbortSignal;
  readonly budget?: ByteBudget;
}

export interface ResultRequest {
  readonly kind: 'image' | 'video';
  readonly bytesMax: number;
  /** Scheme, host and port of the upstream's `baseUrl`, if it has one: may be fetched from unchecked. */
  readonly upstreamOrigin: string | undefined;
  /** The proxy of the upstream's settings, for its results too. */
  readonly proxy?: string | undefined;
  /** The operator's headers: sent to the upstream's own origin in the first request, and nowhere else. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long a result that is not there yet is tried again; not at all by default. */
  readonly patienceMs?: number | undefined;
  readonly signal: AbortSignal;
}

export interface PostRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Reads a result; what it throws is passed on. */
export type Keep<T> = (result: RemoteResult) => Promise<T>;

export interface Fetcher {
  /**
   * Fetches an image. Throws 400 faults, a 503 fault if the budget has no room, and the signal's reason.
   *
   * Whether a host is not public, not found, closed or slow is reported in the same words and at the same times, so
   * that nobody can probe the internal network: neither its names nor what answers there.
   */
  fetchImage(url: string, request: ImageRequest): Promise<Image>;
  /**
   * Fetches a result and passes it to `keep` as soon as its first bytes tell what it is; resolves with what `keep`
   * returned. Throws what `keep` throws, the signal's reason, and upstream faults for everything else.
   */
  fetchResult<T>(url: string, request: ResultRequest, keep: Keep<T>): Promise<T>;
  /**
   * Posts once; redirects are not followed. Resolves if the answer is a success. Throws a `FetchFailure`, with reason
   * `status` for any other answer, and the signal's reason. Failures to reach the host come at the same times as for
   * images; callers that show them use the same words.
   */
  post(url: string, request: PostRequest): Promise<void>;
  /** Why a URL is never posted to, as far as its text shows. */
  findUrlRefusal(url: string): UrlRefusal | undefined;
}

export function createFetcher(options: FetcherOptions = {}): Fetcher {
  const limits = { ...LIMITS, ...options.limits };
  const { trustedOrigins = new Set<string>(), ownOrigin } = options;
  const rules: UrlRules = { trustedOrigins, ...(ownOrigin !== undefined && { ownOrigin }) };
  const { resolve, dial = dialAddress, ca } = options;
  const resolvers = resolve ? { publicNames: resolve, trustedNames: resolve } : systemResolvers;
  const network: Network = { resolvers, dial, ca };

  async function fetchImage(url: string, { field, signal, budget }: ImageRequest): Promise<Image> {
    const startedAt = performance.now();
    const target = readUrl(url, rules);
    if (typeof target === 'string' && target !== 'not-public') throw urlFault(target, field);
    try {
      if (target === 'not-public') throw new FetchFailure(target);
      return await withDeadline(limits.imageMs, signal, async (ending) => {
        const reply = await followRedirects(target, { rules, network, signal: ending, headers: {} });
        return readImageReply(reply, budget, ending).finally(reply.close);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FetchFailure)) throw error;
      const clientFault = toImageFault(error, field);
      if (!clientFault) await waitForStepEnd(startedAt, limits.imageMs, signal);
      throw clientFault ?? fault('image_unreachable', { field }, error);
    }
  }

  /** Until the end of a step, unless the time limit was used up. */
  async function waitForStepEnd(startedAt: number, mostMs: number, signal: AbortSignal): Promise<void> {
    if (performance.now() - startedAt < mostMs) await waitForStep(startedAt, limits.stepMs, signal);
  }

  async function post(url: string, { headers, body, signal }: PostRequest): Promise<void> {
    const startedAt = performance.now();
    try {
      const target = readUrl(url, rules);
      if (typeof target === 'string') throw new FetchFailure('not-public');
      const reply = await withDeadline(limits.postMs, signal, (ending) =>
        requestOnce(target, headers, { network, signal: ending, body }),
      );
      reply.close();
      const { status } = reply;
      if (status > 299) throw new FetchFailure('status', { status });
    } catch (error) {
      signal.throwIfAborted();
      const answered = error instanceof FetchFailure && error.reason === 'status';
      if (!answered) await waitForStepEnd(startedAt, limits.postMs, signal);
      throw error;
    }
  }

  async function fetchResult<T>(url: string, request: ResultRequest, keep: Keep<T>): Promise<T> {
    const { signal, patienceMs = 0 } = request;
    const giveUpAt = performance.now() + patienceMs;
    for (let pauseMs = RESULT_PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, RESULT_PAUSE_MS.most)) {
      try {
        return await fetchResultOnce(url, request, keep);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof FetchFailure)) throw error;
        if (!LATE.has(error.reason) || performance.now() + pauseMs > giveUpAt) throw toResultFault(error);
        await abortableDelay(pauseMs, signal);
      }
    }
  }

  async function fetchResultOnce<T>(url: string, request: ResultRequest, keep: Keep<T>): Promise<T> {
    const { kind, bytesMax, signal, proxy } = request;
    const upstream = request.upstreamOrigin === undefined ? undefined : new URL(request.upstreamOrigin).origin;
    const trusted = new Set([...trustedOrigins, ...(upstream === undefined ? [] : [upstream])]);
    const own = { ...rules, trustedOrigins: trusted, lengthMax: RESULT_URL_LENGTH_MAX };
    return withDeadline(limits.resultMs, signal, async (ending) => {
      const target = readUrl(url, own);
      if (typeof target === 'string') throw new FetchFailure('not-public');
      const headers = target.origin === upstream ? lowerCased(request.headers) : {};
      const reply = await followRedirects(target, { rules: own, network, signal: ending, headers, proxy });
      const reading = openResult(reply, { kind, bytesMax, idleMs: limits.resultIdleMs }, ending);
      return reading.then(keep).finally(reply.close);
    });
  }

  function findUrlRefusal(url: string): UrlRefusal | undefined {
    const target = readUrl(url, rules);
    return typeof target === 'string' ? target : undefined;
  }

  return { fetchImage, fetchResult, post, findUrlRefusal };
}

/** Made when it is first used: the service's own address may not be known before. */
export function createLateFetcher(trustedOrigins: ReadonlySet<string>, publicUrl: () => string): () => Fetcher {
  let made: Fetcher | undefined;
  return () => {
    made ??= createFetcher({ trustedOrigins, ownOrigin: publicUrl() });
    return made;
  };
}

/** The fault for an image whose public server did answer; undefined for failures that must look alike. */
function toImageFault({ reason }: FetchFailure, field: string): Fault | undefined {
  switch (reason) {
    case 'status':
      return fault('image_refused', { field, hint: 'did not answer with status 200' });
    case 'redirects':
      return fault('image_refused', { field, hint: `redirects more than ${REDIRECTS_MAX} times, or nowhere` });
    case 'encoded':
      return fault('image_refused', { field, hint: 'compressed it although asked not to' });
    case 'too-large':
      return tooLarge(field);
    case 'unsupported':
      return fault('image_unsupported', { field });
    case 'no-memory':
      return fault('no_room');
    default:
      return undefined;
  }
}

function toResultFault({ reason, status = 0, message }: FetchFailure): UpstreamFault {
  return upstreamFault(
    TRANSIENT[status] ?? (status >= 500 ? 'server' : (KINDS[reason] ?? 'protocol')),
    `cannot fetch the result: ${message}`,
  );
}

/** Statuses below 500 that say nothing about the result itself. */
const TRANSIENT: Readonly<Record<number, UpstreamFaultKind>> = { 408: 'timeout', 425: 'overloaded', 429: 'rate' };

const KINDS: Partial<Record<FailureReason, UpstreamFaultKind>> = {
  'unknown-host': 'network',
  'no-connection': 'network',
  broken: 'network',
  slow: 'timeout',
};

/** Names in lower case, so that our own override them; the host is that of the URL. */
function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { host: _, ...others } = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return others;
}
