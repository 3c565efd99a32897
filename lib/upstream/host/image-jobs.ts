// Images that an upstream makes as jobs: submitted once, polled until they end.

import type { Host } from '../contract/host.ts';
import type { HostImage } from '../contract/image.ts';
import { readFields } from './fields.ts';
import { bearer, submitJob } from './jobs.ts';

/** `HostImage.jobs`. */
export function createImageJobs(host: Pick<Host, 'json' | 'fault' | 'perRoute' | 'poll'>): HostImage['jobs'] {
  return (settings, { auth = bearer, headers = {}, everyMs, replyBytesMax, submission, isEnded, sourcesOf }) => {
    const routed = host.perRoute(settings, (own) => own);
    return async (call, signal) => {
      const own = routed(call);
      const submitted = submission(call, own.baseUrl, own);
      const request = { ...submitted, headers: { ...headers, ...submitted.headers }, auth, signal };
      const { ref, reply } = await submitJob(host, request, replyBytesMax);
      const get = { method: 'GET', headers, auth, keyId: reply.keyId, signal } as const;
      const askForState = async () => {
        const { value, retryAfterMs } = await host.json(ref.url, get, replyBytesMax);
        return isEnded(readFields(value)) ? { value } : { retryAfterMs };
      };
      const ended = isEnded(readFields(reply.value))
        ? reply.value
        : await host.poll({ everyMs, signal, ask: askForState });
      return { images: await sourcesOf(readFields(ended), { ref, auth, signal }) };
    };
  };
}
