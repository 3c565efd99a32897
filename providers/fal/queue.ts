// The queue of fal: where a request is submitted, polled and fetched.
import type {
  JobRef,
  JobSubmission,
  JsonBody,
  VideoCancellation,
  VideoRef,
} from '../../lib/upstream/contract/provider.ts';

export function createFalSubmission(
  base: string,
  model: string,
  body: JsonBody,
): Omit<JobSubmission, 'auth' | 'signal'> {
  return {
    url: `${base}/${model}`,
    body,
    idOf: ({ request_id }) => request_id,
    lookAt: (id) => `${base}/${readAppName(model)}/requests/${id}/status`,
  };
}

/** The result of a request that is polled by its status. */
export function buildResultUrl({ url }: VideoRef): string {
  return String(url).replace(/\/status$/, '');
}

/** The request that takes it out of the queue, or asks its runner to stop. */
export function cancelFalRequest(ref: JobRef): VideoCancellation {
  return { method: 'PUT', url: `${buildResultUrl(ref)}/cancel` };
}

/** Before owner and name of these apps. */
const NAMESPACES: ReadonlySet<string> = new Set(['workflows', 'comfy']);

/** A request belongs to its app alone, without what follows the app's name in the submit path. */
function readAppName(model: string): string {
  const parts = model.split('/');
  return parts.slice(0, NAMESPACES.has(parts[0] ?? '') ? 3 : 2).join('/');
}
