// Exchanges a GigaChat key for a token valid for half an hour.
import { randomUUID } from 'node:crypto';
import type { Host, TokenSource } from '../../lib/upstream/contract/provider.ts';
import type { Settings } from './request.ts';

export function tokensOf({ authUrl, scope }: Settings, host: Host): TokenSource {
  return {
    async exchange(key, signal) {
      const headers = {
        authorization: `Basic ${key}`,
        rquid: randomUUID(),
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      };
      const body = `${new URLSearchParams({ scope })}`;
      const { value } = await host.json(authUrl, { method: 'POST', headers, body, signal });
      const { access_token: token, expires_at: expiresAt } = host.fields(value);
      if (typeof token !== 'string') throw host.fault.make('protocol', 'the exchange of the key gave no token');
      return { value: token, expiresAt: Number(expiresAt) };
    },
  };
}
