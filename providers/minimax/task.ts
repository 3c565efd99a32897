// What a task of MiniMax is asked for with, and what it reports, in both versions.
import type { Host, JsonObject, KeyHeaders, VideoCall, VideoRef, VideoReport } from '../../lib/plugin/contract.ts';

export const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

export function bodyOf(call: VideoCall, host: Host, isSecond: boolean): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  const url = image && host.video.dataUrl(image);
  const spelled = host.video.resolution(call, 'resolution', resolution?.toUpperCase());
  const common = { model, duration: seconds, ...spelled };
  if (!isSecond) return { ...common, prompt, ...(image && { first_frame_image: url }) };
  const text = { type: 'text', text: prompt };
  // A first picture has an aspect already.
  if (!image) return { ...common, content: [text], ratio: aspect };
  return { ...common, content: [text, { type: 'image_url', role: 'first_frame', image_url: { url } }] };
}

export interface Looking {
  readonly ref: VideoRef;
  readonly host: Host;
  readonly signal: AbortSignal;
}

/** Version 2 has a task, with the URL of its video; version 1 names a file, and a failed task's code says why. */
export function reportOf(value: JsonObject, looking: Looking): VideoReport {
  const { status, content, error } = fieldsOf(value.task);
  if (value.task !== undefined) return { status, error, url: fieldsOf(content).url };
  const { base_resp } = value;
  const refusal = fieldsOf(base_resp).status_code ? { base_resp } : undefined;
  return { status: value.status, error: refusal, media: () => fileOf(value.file_id, looking) };
}

async function fileOf(id: unknown, { ref, host, signal }: Looking): Promise<{ url: string } | undefined> {
  if (id === undefined || id === null || id === '') return undefined;
  const url = `${ref.base}/files/retrieve?file_id=${encodeURIComponent(String(id))}`;
  const { value } = await host.json(url, { method: 'GET', auth, keyId: ref.keyId, signal });
  const { download_url: download } = fieldsOf(fieldsOf(value).file);
  if (typeof download === 'string' && download !== '') return { url: download };
  const complaint = host.fault.ofComplaint(value);
  if (complaint) throw complaint;
  return undefined;
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
