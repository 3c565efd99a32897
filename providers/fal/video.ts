// Videos of fal: a request in its queue, looked at until it is over, and then its result.
import { Buffer } from 'node:buffer';
import type {
  Host,
  JsonObject,
  KeyHeaders,
  MediaSource,
  VideoCall,
  VideoProvider,
  VideoRef,
} from '../../lib/plugin/contract.ts';
import { fillVideo, type Settings } from './input.ts';

const JSON_BODY = { 'content-type': 'application/json' };

export function createVideo(wireOf: (call: VideoCall) => Settings, host: Host, auth: KeyHeaders): VideoProvider {
  return {
    start(call, signal) {
      const wire = wireOf(call);
      const model = (call.image && wire.editModel) || call.model;
      const base = wire.baseUrl.replace(/\/+$/, '');
      const body = fillVideo(call, wire, host.video.resolution(call, 'resolution', call.resolution ?? undefined));
      const lookAt = (id: string) => `${base}/${appOf(model)}/requests/${id}/status`;
      const request = { url: `${base}/${model}`, headers: JSON_BODY, auth, body, signal };
      return host.video.submit({ ...request, idOf: ({ request_id }: JsonObject) => request_id, lookAt });
    },
    poll(ref, signal) {
      return host.video.look(ref, { auth, signal }, ({ status, error, error_type: type }) => {
        if (error || type) return { status: 'failed', error: { code: type, message: error } };
        return { status, media: () => resultOf(ref, { host, auth, signal }) };
      });
    },
  };
}

/** Before owner and name of these apps. */
const NAMESPACES: ReadonlySet<string> = new Set(['workflows', 'comfy']);

/** A request is known by its app alone, without what follows its name in the submit path. */
export function appOf(model: string): string {
  const parts = model.split('/');
  return parts.slice(0, NAMESPACES.has(parts[0] ?? '') ? 3 : 2).join('/');
}

interface Asking {
  readonly host: Host;
  readonly auth: KeyHeaders;
  readonly signal: AbortSignal;
}

/** Of a request that failed, although it is completed, the result is a refusal: it is thrown. */
async function resultOf(ref: VideoRef, { host, auth, signal }: Asking): Promise<MediaSource | undefined> {
  const url = String(ref.url).replace(/\/status$/, '');
  const { value } = await host.json(url, { method: 'GET', auth, keyId: ref.keyId, signal });
  const { video, videos } = fieldsOf(value);
  const { url: film } = fieldsOf(Array.isArray(videos) ? videos[0] : video);
  if (typeof film !== 'string' || film === '') return undefined;
  return film.startsWith('data:') ? { bytes: Buffer.from(film.slice(film.indexOf(',') + 1), 'base64') } : { url: film };
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
