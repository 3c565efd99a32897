// Fetches images that clients link to and results of upstreams, and posts to owners' webhooks: only from and to public
// https hosts and trusted origins, over connections to checked addresses.

import { abortableDelay, waitForStep } from '../base/abort.ts';
import { type Fault, fault } from '../base/faults.ts';
import type { UpstreamFault, UpstreamFaultKind } from '../upstream/contract/provider.ts';
import { upstreamFault } from '../upstream/host/fault.ts';
import { type Dial, dialAddress } from './connect.ts';
import { withDeadline } from './deadline.ts';
import { type FailureReason, FetchFailure } from './failure.ts';
import { followRedirects, type Network, REDIRECTS_MAX, requestOnce } from './hop.ts';
import { type ByteBudget, type Image, tooLarge } from './image.ts';
import { readImageReply } from './image-reply.ts';
import { type Resolve, systemResolvers } from './resolve.ts';
import { openResult, type RemoteResult } from './result.ts';
import { readUrl, type UrlRefusal, type UrlRules, urlFault } from './url.ts';

export interface FetcherOptions {
  /** Origins as returned by `readOrigins`: exempt from the rules for scheme, port and address. */
  readonly trustedOrigins?: ReadonlySet<string>;
  /** Base URL of the gateway's own links: nothing on its host is fetched. */
  readonly ownOrigin?: string;
  /** CA certificates to trust instead of Node's own. */
  readonly ca?: string;
  /** Replaces name servers and the system's resolver. */
  readonly resolve?: Resolve;
  /** Replaces the system's connect. */
  readonly dial?: Dial;
  readonly limits?: Partial<FetchLimits> | undefined;
}

export interface FetchLimits {
  /** For an image, from checking its URL to its last byte. */
  readonly imageMs: number;
  /** For a post, until the head of the response. */
  readonly postMs: number;
  /** Failures to reach an image or a webhook are reported at whole multiples of this. */
  readonly stepMs: number;
  /** For a result, in total. */
  readonly resultMs: number;
  /** For a result, until the head of its file, redirects included. */
  readonly resultHeadMs: number;
  /** For a result, without a byte. */
  readonly resultIdleMs: number;
}

const LIMITS: FetchLimits = {
  imageMs: 10_000,
  postMs: 10_000,
  stepMs: 1_000,
  resultMs: 600_000,
  resultHeadMs: 60_000,
  resultIdleMs: 30_000,
};

/** The pause between two attempts at a result. */
const RESULT_PAUSE_MS = { first: 250, most: 4000 };

/** Failures that may be seen before the file of a result exists. */
const LATE: ReadonlySet<FailureReason> = new Set([
  'status',
  'unsupported',
  'broken',
  'cut-short',
  'slow',
  'no-connection',
  'unknown-host',
]);

/** Result URLs contain signatures. */
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
  /** Origin of the upstream's `baseUrl`, if it has one; trusted for its results. */
  readonly upstreamOrigin: string | undefined;
  /** The proxy in the upstream's settings. */
  readonly proxy?: string | undefined;
  /** Sent if the URL is on the upstream's own origin, up to the first redirect that leaves it; they may contain a key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long a result that is not there yet is tried again; not at all by default. */
  readonly patienceMs?: number | undefined;
  readonly signal: AbortSignal;
}

interface PostRequest {
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Reads a result; its errors are passed on. */
type Keep<T> = (result: RemoteResult) => Promise<T>;

export interface Fetcher {
  /**
   * Fetches an image. Throws 400 faults, a 503 fault if the budget has no room, and the signal's reason.
   *
   * A host that is not public, unknown, closed or slow is reported by the same message and with the same timing, so that
   * nobody can probe the internal network.
   */
  fetchImage(url: string, request: ImageRequest): Promise<Image>;
  /**
   * Fetches a result and passes it to `keep` once its type is known from the first bytes; resolves to what `keep`
   * returns. Throws what `keep` throws, the signal's reason, and upstream faults for everything else.
   */
  fetchResult<T>(url: string, request: ResultRequest, keep: Keep<T>): Promise<T>;
  /**
   * Posts once, without following redirects. Resolves if the response is a success. Throws a `FetchFailure`, with reason
   * `status` for any other response, and the signal's reason. Failures to reach the host have the timing of images, and
   * callers that show them use the same message.
   */
  post(url: string, request: PostRequest): Promise<void>;
  /** Why a URL is refused by its text alone; undefined if it is not. */
  findUrlRefusal(url: string): UrlRefusal | undefined;
}

export function createFetcher(options: FetcherOptions = {}): Fetcher {
  const limits = { ...LIMITS, ...options.limits };
  const { trustedOrigins = new Set<string>(), ownOrigin } = options;
  const rules: UrlRules = { trustedOrigins, ownOrigin };
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

  /** Waits for the end of a step, unless the time limit was reached. */
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
    const trusted = upstream === undefined ? trustedOrigins : new Set([...trustedOrigins, upstream]);
    const own = { ...rules, trustedOrigins: trusted, lengthMax: RESULT_URL_LENGTH_MAX, upgradesHttp: true };
    return withDeadline(limits.resultMs, signal, async (ending) => {
      const target = readUrl(url, own);
      if (typeof target === 'string') throw new FetchFailure('not-public');
      const headers = target.origin === upstream ? lowerCased(request.headers) : {};
      const plan = { rules: own, network, headers, proxy };
      // The body has limits of its own; a host that never answers would hold up other results for as long as all of one.
      const reply = await withDeadline(limits.resultHeadMs, ending, (head) =>
        followRedirects(target, { ...plan, signal: head }),
      );
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

/** A fetcher that is created on first use: the public URL may be unknown before the start. */
export function createLateFetcher(
  options: Pick<FetcherOptions, 'trustedOrigins' | 'limits'>,
  publicUrl: () => string,
): () => Fetcher {
  let made: Fetcher | undefined;
  return () => {
    made ??= createFetcher({ ...options, ownOrigin: publicUrl() });
    return made;
  };
}

/** The fault for an image whose public server responded; undefined for failures that must look alike. */
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

/** Client-error statuses that say nothing about the result itself. */
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
