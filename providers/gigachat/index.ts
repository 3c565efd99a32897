// Plugin for GigaChat: keys are exchanged for tokens, pictures are uploaded before the call.
import { randomUUID } from 'node:crypto';
import type { Host, Provider, ProviderPlugin, Token } from '../../lib/plugin/contract.ts';
import { readerOf } from './reply.ts';
import { bodyOf, fileOf, picturesOf, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'gigachat',
  settings(joi, account) {
    const url = () => joi.string().uri({ scheme: ['http', 'https'] });
    return account('https://gigachat.devices.sberbank.ru/api/v1', {
      authUrl: url().default('https://ngw.devices.sberbank.ru:9443/api/v2/oauth'),
      scope: joi.string().default('GIGACHAT_API_PERS'),
      ca: joi.string(),
    });
  },
  // What the exchange of a key is refused for: the header, the scope, the key, the scope of the key.
  faultWords: { auth: '4 5 6 7' },
  create: createProvider,
};

export default plugin;

function createProvider(settings: Settings, host: Host): Provider {
  const auth = host.tokens({
    exchange: (key, signal) => exchange({ settings, host, key, signal }),
    headers: (token) => ({ authorization: `Bearer ${token}` }),
  });
  const baseOf = host.perRoute(settings, ({ baseUrl }) => baseUrl.replace(/\/+$/, ''));
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream, application/json' };
  const request = { method: 'POST', auth } as const;
  return {
    async *text(call, signal) {
      const base = baseOf(call);
      const ids: string[] = [];
      // All files, and the answer that reads them, are of one account.
      let keyId: string | undefined;
      try {
        for (const picture of picturesOf(call, host.fault)) {
          const reply = await host.json(`${base}/files`, { ...request, keyId, body: fileOf(picture), signal });
          keyId = reply.keyId;
          ids.push(idOf(reply.value, host));
        }
        yield* host.answer(
          `${base}/chat/completions`,
          { ...request, keyId, headers, body: bodyOf(call, ids), signal },
          readerOf(host.fault),
        );
      } finally {
        for (const id of ids) remove(`${base}/files/${encodeURIComponent(id)}/delete`, keyId);
      }
    },
  };

  /** Nobody waits for it: a file that stays is a matter for the log. */
  function remove(url: string, keyId: string | undefined): void {
    const init = { ...request, keyId, signal: AbortSignal.timeout(REMOVE_MS) };
    // Its words may quote a prompt.
    const tell = ({ kind, status }: { readonly kind?: string; readonly status?: number }) =>
      host.log.warn('a picture was not deleted', { kind, status });
    host.json(url, init).catch(tell);
  }
}

const REMOVE_MS = 30_000;

interface Exchange {
  readonly settings: Settings;
  readonly host: Host;
  readonly key: string;
  readonly signal: AbortSignal;
}

async function exchange({ settings, host, key, signal }: Exchange): Promise<Token> {
  const headers = {
    authorization: `Basic ${key}`,
    rquid: randomUUID(),
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  const body = `${new URLSearchParams({ scope: settings.scope })}`;
  const { value } = await host.json(settings.authUrl, { method: 'POST', headers, body, signal });
  const { access_token: token, expires_at: expiresAt } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof token !== 'string') throw host.fault.make('protocol', 'the exchange of the key gave no token');
  return { value: token, expiresAt: Number(expiresAt) };
}

function idOf(value: unknown, host: Host): string {
  const { id } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string') throw host.fault.make('protocol', 'the upload of a picture gave no id');
  return id;
}
