// Exchanges a GigaChat key for a token valid for half an hour.
import { randomUUID } from 'node:crypto';
import type { Host, TokenSource } from '../../lib/upstream/contract/provider.ts';
import type { Settings } from './request.ts';

export function createGigachatTokens({ authUrl, scope }: Settings, host: Host): TokenSource {
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
      const { access_token, expires_at, tok, exp } = host.fields(value);
      const token = access_token ?? tok;
      if (typeof token !== 'string' || token === '') {
        throw host.fault.make('protocol', 'the exchange of the key gave no token');
      }
      return { value: token, expiresAt: toMilliseconds(Number(expires_at ?? exp)) };
    },
  };
}

/** In seconds, this is the year 5138; in milliseconds, 1973. */
const SECONDS_MAX = 1e11;

/** Personal accounts get `expires_at` in milliseconds, corporate ones `exp`, in seconds or in milliseconds. */
function toMilliseconds(timestamp: number): number {
  return timestamp < SECONDS_MAX ? timestamp * 1000 : timestamp;
}
