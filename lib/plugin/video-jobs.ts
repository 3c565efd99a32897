// Submits jobs of video and reads their states: what is the same for every upstream that makes videos as jobs.
import type { Asking } from './ask.ts';
import type { MediaSource, VideoState } from './contract.ts';
import { dataUrlOf } from './data-url.ts';
import { isUpstreamFault } from './fault.ts';
import type { HostFault } from './fault-contract.ts';
import type { Host } from './host-contract.ts';
import type { JsonObject, KeyHeaders } from './request-contract.ts';
import { resolutionOf } from './resolutions.ts';
import { fillForVideo } from './template.ts';
import type { HostVideo, VideoReport } from './video-contract.ts';

export interface VideoJobTools extends Pick<Host, 'json' | 'fault' | 'perRoute'> {
  readonly ask: Asking['ask'];
}

export function createHostVideo({ ask, json, fault, perRoute }: VideoJobTools): HostVideo {
  const host: HostVideo = {
    jobs(settings, { auth = bearer, headers = {}, submission, read }) {
      const routed = perRoute(settings, (own) => ({ own, base: own.baseUrl.replace(/\/+$/, '') }));
      return {
        start(call, signal) {
          const { own, base } = routed(call);
          const submitted = submission(call, base, own);
          return host.submit({ ...submitted, headers: { ...headers, ...submitted.headers }, auth, signal });
        },
        poll(ref, signal) {
          return host.look(ref, { headers, auth, signal }, (value) => read(value, { ref, auth, signal }));
        },
      };
    },

    async submit({ url, idOf, lookAt, ...init }) {
      const { value, keyId } = await json(url, { ...init, method: 'POST' });
      const id = nameOf(idOf(fieldsOf(value)));
      if (id === undefined) throw fault.ofComplaint(value) ?? fault.make('protocol', `no job in ${shown(value)}`);
      return { id, url: lookAt(encodeURIComponent(id)), ...(keyId !== undefined && { keyId }) };
    },

    async look({ url, keyId }, init, read) {
      if (url === undefined) throw fault.make('protocol', 'the job has no URL to look at');
      const { retryAfterMs, body } = await ask(url, { ...init, method: 'GET', keyId });
      const text = await body.text();
      const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
      if (text.trim() === '') return { status: 'processing', ...patience };
      const value = parse(text, fault);
      const report = read(fieldsOf(value));
      if (nameOf(report.status) === undefined) throw fault.ofComplaint(value) ?? noState(value, fault);
      const state = await stateOf(report, fault);
      return 'fault' in state || 'result' in state ? state : { ...state, ...patience };
    },

    resolution: resolutionOf,
    fill: fillForVideo,
    dataUrl: dataUrlOf,
  };
  return host;
}

const bearer: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

/** Words by which upstreams name the states of a job; any other is `processing`. */
const WORDS: ReadonlyMap<string, VideoState['status']> = new Map([
  ...named('queued', 'queued queueing queue pending submitted created preparing waiting in_queue throttled'),
  ...named('completed', 'completed complete succeeded succeed success done finished'),
  ...named('failed', 'failed fail failure error cancelled canceled rejected expired'),
]);

function named(status: VideoState['status'], words: string): [string, VideoState['status']][] {
  return words.split(' ').map((word) => [word, status]);
}

async function stateOf(report: VideoReport, fault: HostFault): Promise<VideoState> {
  const word = String(report.status).trim().toLowerCase();
  const status = WORDS.get(word) ?? 'processing';
  if (status === 'failed') {
    const { error } = report;
    return { status, fault: fault.ofComplaint(saysNothing(error) ? `the job is ${word}` : error, true) };
  }
  if (status === 'completed') return completed(report);
  const progress = percentOf(report.progress);
  return { status, ...(progress !== undefined && { progress }) };
}

async function completed(report: VideoReport): Promise<VideoState> {
  try {
    const result = await mediaOf(report);
    return result ? { status: 'completed', result } : { status: 'processing' };
  } catch (error) {
    if (isUpstreamFault(error) && error.kind === 'request') return { status: 'failed', fault: error };
    throw error;
  }
}

async function mediaOf(report: VideoReport): Promise<MediaSource | undefined> {
  const { url } = report;
  if (typeof url === 'string' && URL.canParse(url) && /^https?:/i.test(url)) return { url };
  return report.media?.();
}

/** A whole 1 is a percent: only a fraction says that the scale ends at 1. */
function percentOf(value: unknown): number | undefined {
  const text = typeof value === 'string' ? value.trim() : undefined;
  const number = text === undefined ? value : Number.parseFloat(text);
  if (typeof number !== 'number' || !Number.isFinite(number) || number < 0) return undefined;
  const isFraction = number < 1 && !text?.endsWith('%');
  return Math.min(Math.round(isFraction ? number * 100 : number), 100);
}

function saysNothing(error: unknown): boolean {
  if (typeof error === 'object' && error !== null) return Object.values(error).every(saysNothing);
  return error === undefined || error === null || error === '';
}

function nameOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function noState(value: unknown, fault: HostFault): Error {
  return fault.make('protocol', `no state in ${shown(value)}`);
}

function shown(value: unknown): string {
  return `the answer ${JSON.stringify(value).slice(0, 200)}`;
}

function parse(text: string, fault: HostFault): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fault.make('protocol', `the answer is not JSON: ${text.slice(0, 200)}`);
  }
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
