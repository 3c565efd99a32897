// Plugin for every upstream that makes and edits pictures by OpenAI's images API, or nearly so.
import type { Host, KeyHeaders, Provider, ProviderPlugin } from '../../lib/plugin/contract.ts';
import { imagesOf } from './reply.ts';
import { EDIT_TRANSPORTS, requestOf, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'openai-images',
  settings(joi, account) {
    return account.keyOptional('https://api.openai.com/v1', {
      sizeMap: joi.object().pattern(joi.string(), joi.string()).default({}),
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
  create: createProvider,
};

export default plugin;

/** Pictures come inline, several megabytes each. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

function createProvider(settings: Settings, host: Host): Provider {
  const wireOf = host.perRoute(settings, (wire) => wire);
  return {
    async image(call, signal) {
      const { url, ...request } = requestOf(call, wireOf(call));
      const { value } = await host.json(url, { ...request, method: 'POST', auth, signal }, REPLY_BYTES_MAX);
      return { images: imagesOf(value, host.fault) };
    },
  };
}
