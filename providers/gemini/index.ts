// Plugin for the Gemini API: text as a stream of its events, vectors, images by the models that
// draw, videos as long operations.
import type { Host, KeyHeaders, Provider, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import { buildGeminiImageBody, buildGeminiTextBody, buildGeminiUrl, type Settings } from './request.ts';
import { createVideo } from './video.ts';

/** An image of 4K comes as some 30 MiB of base64. */
const IMAGE_BYTES_MAX = 64 * 1024 * 1024;

/** An image within a text answer comes in one event. */
const EVENT_CHARS_MAX = 32 * 1024 * 1024;

/** Of one request for embeddings. */
const INPUTS_MAX = 100;

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'gemini',
  settings(joi, account) {
    return account.keyOptional('https://generativelanguage.googleapis.com/v1beta', {
      sizeMap: joi.object().pattern(/^\d+x\d+$/, joi.string()),
      thinking: joi.string().valid('level', 'budget').default('level'),
    });
  },
  // A bad key is a 400 with its own reason. A failed precondition is ours: the account's country, or no billing.
  faultWords: { auth: 'api_key_invalid api_key_service_blocked failed_precondition' },
  faultTexts: {
    missing:
      /(function calling|developer instruction) is not enabled for|only works in thinking mode|setting thinking_budget/i,
  },
  create: createProvider,
};

export default plugin;

const auth: KeyHeaders = (key) => ({ 'x-goog-api-key': key });

function createProvider(settings: Settings, host: Host): Provider {
  const resolveWire = host.perRoute(settings, (wire) => wire);
  const request = { method: 'POST', auth } as const;
  return {
    tools: true,
    toolNames: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
    systemMessages: true,
    documents: true,
    audio: true,
    answerImages: true,
    stateFormat: 'contents',
    models(signal) {
      const { baseUrl } = resolveWire({ model: '', options: {} });
      return host.models(`${baseUrl}/models?pageSize=1000`, { auth, signal });
    },
    text(call, signal) {
      const wire = resolveWire(call);
      const url = buildGeminiUrl(wire, call.model, 'streamGenerateContent?alt=sse');
      const { conversation } = call;
      const body = buildGeminiTextBody(call, wire, host);
      return host.answer(
        url,
        { ...request, conversation, body, signal, eventCharsMax: EVENT_CHARS_MAX },
        host.contents.reader(),
      );
    },
    embed(call, signal) {
      const url = buildGeminiUrl(resolveWire(call), call.model, 'batchEmbedContents');
      return host.embed(call, { ...request, url, format: host.contents.embeddings, inputsMax: INPUTS_MAX, signal });
    },
    async image(call, signal) {
      const wire = resolveWire(call);
      const init = { ...request, body: buildGeminiImageBody(call, wire, host), signal };
      const { value } = await host.json(buildGeminiUrl(wire, call.model, 'generateContent'), init, IMAGE_BYTES_MAX);
      return { images: host.contents.readImages(value) };
    },
    video: createVideo(settings, host, auth),
  };
}
