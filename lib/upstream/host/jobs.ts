// Submits jobs to an upstream: what images and videos have in common.

import type { Host, JsonReply } from '../contract/host.ts';
import type { JobRef, JobSubmission } from '../contract/job.ts';
import type { KeyHeaders } from '../contract/request.ts';
import { readFields } from './fields.ts';

interface Submitted {
  readonly ref: JobRef;
  readonly reply: JsonReply;
}

/** Sends the request once. Throws the fault of a refusal, and of a reply that names no job. */
export async function submitJob(
  { json, fault }: Pick<Host, 'json' | 'fault'>,
  { url, idOf, lookAt, ...init }: JobSubmission,
  limitBytes?: number,
): Promise<Submitted> {
  const reply = await json(url, { ...init, method: 'POST' }, limitBytes);
  const { value, keyId } = reply;
  const fields = readFields(value);
  const id = readJobWord(idOf(fields));
  if (id === undefined) throw fault.ofComplaint(value) ?? fault.make('protocol', `no job in ${excerptAnswer(value)}`);
  const ref = { id, url: lookAt(encodeURIComponent(id), fields), ...(keyId !== undefined && { keyId }) };
  return { ref, reply };
}

/** A string or a number by which an upstream names something. */
export function readJobWord(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Enough of an answer to find out what is wrong with it. */
export function excerptAnswer(value: unknown): string {
  return `the answer ${JSON.stringify(value).slice(0, 200)}`;
}

export const bearer: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });
