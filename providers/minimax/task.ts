// A MiniMax task's request and what it reports, in both versions.
import type {
  Base64,
  Host,
  HostVideo,
  JobLooking,
  JsonObject,
  MediaSource,
  VideoCall,
  VideoReport,
} from '../../lib/upstream/contract/provider.ts';

interface Asking {
  readonly video: HostVideo;
  readonly base64: Base64;
  readonly isSecond: boolean;
}

export function buildMinimaxBody(call: VideoCall, { video, base64, isSecond }: Asking): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  const url = image && video.dataUrl(image, base64);
  const spelled = video.resolution(call, 'resolution', resolution?.toUpperCase());
  const common = { model, duration: seconds, ...spelled };
  if (!isSecond) return { ...common, prompt, ...(image && { first_frame_image: url }) };
  const text = { type: 'text', text: prompt };
  // A first frame already has an aspect.
  if (!image) return { ...common, content: [text], ratio: aspect };
  return { ...common, content: [text, { type: 'image_url', role: 'first_frame', image_url: { url } }] };
}

/** Version 2 returns a task with the video's URL; version 1 names a file, and a failed task's code says why. */
export function readTaskReport(value: JsonObject, looking: JobLooking, host: Host): VideoReport {
  const { status, content, error } = host.fields(value.task);
  if (value.task !== undefined) return { status, error, url: host.fields(content).url };
  const { base_resp } = value;
  const refusal = host.fields(base_resp).status_code ? { base_resp } : undefined;
  return { status: value.status, error: refusal, media: () => readTaskFile(value.file_id, looking, host) };
}

/** The URL of the file is beside that by which the job was polled. */
async function readTaskFile(
  id: unknown,
  { ref, auth, signal }: JobLooking,
  host: Host,
): Promise<MediaSource | undefined> {
  if (id === undefined || id === null || id === '') return undefined;
  const base = ref.url?.slice(0, ref.url.lastIndexOf('/query/'));
  const url = `${base}/files/retrieve?file_id=${encodeURIComponent(String(id))}`;
  const { value } = await host.json(url, { method: 'GET', auth, keyId: ref.keyId, signal });
  const { download_url: download } = host.fields(value, 'file');
  if (typeof download === 'string' && download !== '') return { url: download };
  const complaint = host.fault.ofComplaint(value);
  if (complaint) throw complaint;
  return undefined;
}
