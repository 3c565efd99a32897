// Plugin for upstreams that make and edit images with OpenAI's images API, or nearly so.
import type { ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import { readReplyImages, readStreamedImages } from './reply.ts';
import { APIS, buildImageRequest, EDIT_TRANSPORTS, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'openai-images',
  settings(joi, account) {
    return account.keyOptional('https://api.openai.com/v1', {
      sizeMap: joi.object().pattern(joi.string(), joi.string()).default({}),
      api: joi
        .string()
        .valid(...APIS)
        .default('openai'),
      editTransport: joi
        .string()
        .valid(...EDIT_TRANSPORTS)
        .default('multipart'),
      input: joi.object().unknown().default({}),
    });
  },
  faultWords: {
    content: 'sensitive_words_detected safety_violation image_safety',
    server: 'image_generation_server_error',
  },
  // If a request is too large, its images are.
  faultStatuses: { 413: 'image' },
  create(settings, host) {
    const resolveWire = host.perRoute(settings, (wire) => wire);
    return {
      async image(call, signal) {
        const wire = resolveWire(call);
        const { url, body } = buildImageRequest(call, wire, host);
        const request = { method: 'POST', auth: host.bearer, body, signal } as const;
        if (wire.input.stream === true) return { images: await readStreamedImages(url, request, host) };
        const { value } = await host.json(url, request, REPLY_BYTES_MAX);
        return { images: readReplyImages(value, host) };
      },
    };
  },
};

export default plugin;

/** Images come inline, several megabytes each. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
