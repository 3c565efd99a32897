// Plugin for GigaChat: keys are exchanged for tokens, images are uploaded before the call, texts become vectors.
import type { Host, Provider, ProviderPlugin, TextCall } from '../../lib/upstream/contract/provider.ts';
import { buildGigachatBody, buildImageUpload, listPromptImages, type Settings } from './request.ts';
import { createGigachatTokens } from './token.ts';
import { NAMES, STATE } from './tools.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'gigachat',
  settings(joi, account) {
    const url = () => joi.string().uri({ scheme: ['http', 'https'] });
    return account('https://gigachat.devices.sberbank.ru/api/v1', {
      authUrl: url().default('https://ngw.devices.sberbank.ru:9443/api/v2/oauth'),
      scope: joi.string().default('GIGACHAT_API_PERS'),
      ca: joi.string(),
    });
  },
  // Why the exchange of a key is refused: the header, the scope, the key, the scope of the key.
  faultWords: { auth: '4 5 6 7' },
  faultTexts: { auth: /scope data format/i, missing: /does not support functions/i },
  create: createProvider,
};

export default plugin;

const HEADERS = { 'content-type': 'application/json', accept: 'text/event-stream, application/json' };
const REMOVE_MS = 30_000;

/** Of one request for embeddings: what the vendor's own clients send. */
const INPUTS_MAX = 90;

/** Requests of one session find more of their prompts in the cache. */
function buildGigachatHeaders({ conversation, cacheKey }: TextCall): Readonly<Record<string, string>> {
  const session = conversation ?? cacheKey;
  return session === undefined ? HEADERS : { ...HEADERS, 'x-session-id': encodeURIComponent(session.toWellFormed()) };
}

function createProvider(settings: Settings, host: Host): Provider {
  const request = { method: 'POST', auth: host.tokens(createGigachatTokens(settings, host)) } as const;
  const resolveBaseUrl = host.perRoute(settings, ({ baseUrl }) => baseUrl);
  return {
    tools: true,
    toolNames: NAMES,
    stateFormat: STATE.format,
    async *text(call, signal) {
      const base = resolveBaseUrl(call);
      const { conversation } = call;
      const ids: string[] = [];
      // All files, and the answer that uses them, belong to one account.
      let keyId: string | undefined;
      try {
        for (const image of listPromptImages(call, host)) {
          const reply = await host.json(`${base}/files`, {
            ...request,
            conversation,
            keyId,
            body: buildImageUpload(image),
            signal,
          });
          const { id } = host.fields(reply.value);
          if (typeof id !== 'string') throw host.fault.make('protocol', 'the upload of an image gave no id');
          keyId = reply.keyId;
          ids.push(id);
        }
        const body = buildGigachatBody(call, ids, host);
        const asked = { ...request, conversation, keyId, headers: buildGigachatHeaders(call), body, signal };
        yield* host.answer(`${base}/chat/completions`, asked, host.chat.reader({ callState: STATE }));
      } finally {
        for (const id of ids) remove(`${base}/files/${encodeURIComponent(id)}/delete`, keyId);
      }
    },
    embed(call, signal) {
      const asked = { ...request, url: `${resolveBaseUrl(call)}/embeddings`, format: host.embeddings };
      return host.embed(call, { ...asked, inputsMax: INPUTS_MAX, signal });
    },
  };

  /** Not awaited: a file that stays is only logged, without words that may quote a prompt. */
  function remove(url: string, keyId: string | undefined): void {
    const init = { ...request, keyId, signal: AbortSignal.timeout(REMOVE_MS) };
    host.json(url, init).catch(({ kind, status }) => host.log.warn('an image was not deleted', { kind, status }));
  }
}
