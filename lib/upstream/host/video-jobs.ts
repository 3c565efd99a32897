// Submits video jobs and reads their states: what all upstreams with video jobs have in common.

import { parseJsonWithLongIds } from '../../base/exact-json.ts';
import type { HostFault } from '../contract/fault.ts';
import type { Host } from '../contract/host.ts';
import type { JobRef } from '../contract/job.ts';
import type { VideoRef, VideoState } from '../contract/provider.ts';
import type { HostVideo, VideoReport } from '../contract/video.ts';
import type { Asking } from './ask.ts';
import { createDataUrl } from './data-url.ts';
import { isUpstreamFault } from './fault.ts';
import { readFields } from './fields.ts';
import { bearer, excerptAnswer, readJobWord, submitJob } from './jobs.ts';
import { resolveResolution } from './resolutions.ts';
import { fillForVideo } from './template.ts';

interface VideoJobTools extends Pick<Host, 'json' | 'fault' | 'perRoute'> {
  readonly ask: Asking['ask'];
}

export function createHostVideo({ ask, json, fault, perRoute }: VideoJobTools): HostVideo {
  const host: HostVideo = {
    jobs(settings, { auth = bearer, headers = {}, replyBytesMax, submission, read, cancellation }) {
      const routed = perRoute(settings, (own) => own);
      return {
        async start(call, signal) {
          const own = routed(call);
          const submitted = submission(call, own.baseUrl, own);
          const request = { ...submitted, headers: { ...headers, ...submitted.headers }, auth, signal };
          return (await submitJob({ json, fault }, request, replyBytesMax)).ref;
        },
        poll(ref, signal) {
          const init = { headers, auth, signal, replyBytesMax };
          return host.look(ref, init, (value) => read(value, { ref, auth, signal }));
        },
        ...(cancellation && {
          async cancel(ref, signal) {
            const { url, ...init } = cancellation(expectJobUrl(ref, fault));
            const request = { ...init, headers: { ...headers, ...init.headers }, auth, keyId: ref.keyId, signal };
            const { body } = await ask(url, request);
            // Read to its end, so that the connection can be used again; what it says changes nothing.
            await body.text();
          },
        }),
      };
    },

    async submit(submission) {
      return (await submitJob({ json, fault }, submission)).ref;
    },

    async look(ref, { replyBytesMax, ...init }, read) {
      const { url, keyId } = expectJobUrl(ref, fault);
      const reply = await ask(url, { ...init, method: 'GET', keyId }).catch(readVerdict);
      if ('fault' in reply) return reply;
      const { retryAfterMs, body } = reply;
      const text = await body.text(replyBytesMax);
      const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
      if (text.trim() === '') return { status: 'processing', ...patience };
      const value = parse(text, fault);
      const report = read(readFields(value));
      if (readJobWord(report.status) === undefined)
        return readVerdict(fault.ofComplaint(value) ?? noState(value, fault));
      const state = await toVideoState(report, fault).catch(readVerdict);
      return 'fault' in state || 'result' in state ? state : { ...state, ...patience };
    },

    resolution: resolveResolution,
    fill: fillForVideo,
    dataUrl: createDataUrl,
  };
  return host;
}

function expectJobUrl(ref: VideoRef, fault: HostFault): JobRef {
  const { url } = ref;
  if (url === undefined) throw fault.make('protocol', 'the job has no URL to look at');
  return { ...ref, url };
}

/** Only the job itself can break content rules: some refuse a poll of such a job, or its result. */
function readVerdict(error: unknown): Extract<VideoState, { status: 'failed' }> {
  if (isUpstreamFault(error) && error.about === 'content') return { status: 'failed', fault: error };
  throw error;
}

/** Upstreams' words for job states; any other is `processing`. */
const WORDS: ReadonlyMap<string, VideoState['status']> = new Map([
  ...listStateWords('queued', 'queued queueing queue pending submitted created preparing waiting in_queue throttled'),
  ...listStateWords('completed', 'completed complete succeeded succeed success done finished'),
  ...listStateWords(
    'failed',
    'failed fail failure error cancelled canceled aborted rejected expired timeout timed_out',
  ),
]);

function listStateWords(status: VideoState['status'], words: string): [string, VideoState['status']][] {
  return words.split(' ').map((word) => [word, status]);
}

async function toVideoState(report: VideoReport, fault: HostFault): Promise<VideoState> {
  const word = String(report.status).trim().toLowerCase();
  const status = WORDS.get(word) ?? 'processing';
  if (status === 'failed') {
    const { error } = report;
    return { status, fault: fault.ofComplaint(saysNothing(error) ? `the job is ${word}` : error, true) };
  }
  if (status === 'completed') return readCompletedState(report, fault);
  const progress = parsePercent(report.progress);
  return { status, ...(progress !== undefined && { progress }) };
}

async function readCompletedState(report: VideoReport, fault: HostFault): Promise<VideoState> {
  const { url, error } = report;
  // Some call a job completed that the content rules have left without a video.
  const refusal = isLink(url) || saysNothing(error) ? undefined : fault.ofComplaint(error, true);
  if (refusal?.about === 'content') return { status: 'failed', fault: refusal };
  const result = isLink(url) ? { url } : await report.media?.();
  if (!result) return { status: 'processing', lacksResult: true };
  return 'fault' in result ? { status: 'failed', fault: result.fault } : { status: 'completed', result };
}

function isLink(url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:/i.test(url);
}

/** A whole 1 is one percent: only a fraction shows that the scale ends at 1. */
function parsePercent(value: unknown): number | undefined {
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

function noState(value: unknown, fault: HostFault): Error {
  return fault.make('protocol', `no state in ${excerptAnswer(value)}`);
}

function parse(text: string, fault: HostFault): unknown {
  try {
    return parseJsonWithLongIds(text);
  } catch {
    throw fault.make('protocol', `the answer is not JSON: ${text.slice(0, 200)}`);
  }
}
