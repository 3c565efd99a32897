// Plugin for YandexGPT: one value per line, each with the whole text so far; and vectors, each text by itself.
import type { Host, Provider, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import { createYandexEmbeddings } from './embeddings.ts';
import { createYandexReader } from './reply.ts';
import { buildYandexBody, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'yandex',
  settings(joi, account) {
    return account('https://llm.api.cloud.yandex.net', {
      folder: joi.string().required(),
    });
  },
  faultTexts: {
    length: /number of input tokens must be|text length is \d+, which is outside the range/i,
    content: /topic cannot be generated/i,
  },
  create: createProvider,
};

export default plugin;

function createProvider(settings: Settings, host: Host): Provider {
  const resolveWire = host.perRoute(settings, ({ baseUrl, folder }) => ({
    url: `${baseUrl}/foundationModels/v1/completion`,
    embedUrl: `${baseUrl}/foundationModels/v1/textEmbedding`,
    folder,
  }));
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', headers, auth: (key: string) => ({ authorization: `Api-Key ${key}` }) } as const;
  return {
    tools: true,
    text(call, signal) {
      const { url, folder } = resolveWire(call);
      const { conversation } = call;
      const body = buildYandexBody(call, folder, host);
      return host.answer(url, { ...request, conversation, body, signal }, createYandexReader(host));
    },
    embed(call, signal) {
      const { embedUrl: url, folder } = resolveWire(call);
      return host.embed(call, { ...request, url, format: createYandexEmbeddings(folder, host), inputsMax: 1, signal });
    },
  };
}
