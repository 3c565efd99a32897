// The queue of fal: where a request is submitted, asked for, and fetched.
import type { JobSubmission, JsonBody, VideoRef } from '../../lib/plugin/contract.ts';

export function submissionOf(base: string, model: string, body: JsonBody): Omit<JobSubmission, 'auth' | 'signal'> {
  return {
    url: `${base}/${model}`,
    body,
    idOf: ({ request_id }) => request_id,
    lookAt: (id) => `${base}/${appOf(model)}/requests/${id}/status`,
  };
}

/** Where the result is, of a request that is looked at by its status. */
export function resultUrlOf({ url }: VideoRef): string {
  return String(url).replace(/\/status$/, '');
}

/** Before owner and name of these apps. */
const NAMESPACES: ReadonlySet<string> = new Set(['workflows', 'comfy']);

/** A request is known by its app alone, without what follows its name in the submit path. */
function appOf(model: string): string {
  const parts = model.split('/');
  return parts.slice(0, NAMESPACES.has(parts[0] ?? '') ? 3 : 2).join('/');
}
