// Plugin for Acme: text, streamed as server-sent events.
import type {
  AccountSettings,
  AnswerReader,
  FinishReason,
  Host,
  KeyHeaders,
  Provider,
  ProviderPlugin,
  TextCall,
  TextMessage,
} from '../../../lib/upstream/contract/provider.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  faultWords: { quota: 'purse_empty', content: 'bad_manners' },
  create: createProvider,
};

export default plugin;

const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

function createProvider(settings: AccountSettings, host: Host): Provider {
  const buildUrl = host.perRoute(settings, ({ baseUrl }) => `${baseUrl}/generate`);
  return {
    text(call, signal) {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', headers, auth, body: JSON.stringify(buildBody(call, host)), signal } as const;
      return host.answer(buildUrl(call), request, createReader(host));
    },
  };
}

function buildBody({ model, system, messages, maxTokens }: TextCall, { textOf }: Host): object {
  return { model, system: system && textOf(system), messages: messages.map(writeMessage), max_tokens: maxTokens };
}

/** Acme sees no images: the catalog's `vision` list does not name its models. */
function writeMessage({ role, content }: TextMessage): object {
  return { role, text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') };
}

const REASONS = new Map<unknown, FinishReason>([
  ['complete', 'stop'],
  ['limit', 'length'],
  ['filtered', 'filter'],
]);

function createReader(host: Host): AnswerReader {
  return {
    take({ text, usage, done, error }, out) {
      if (error !== undefined) throw host.fault.ofComplaint({ error }, true);
      if (typeof text === 'string') out.text(text);
      if (typeof usage === 'object' && usage !== null) out.usage(usage);
      if (typeof done === 'string') out.finish(REASONS.get(done) ?? 'other', done);
    },
  };
}
