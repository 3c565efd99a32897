// Settings of an upstream that speaks messages, and the request one text call becomes.
import type { AccountSettings, Host, JsonBody, KeyHeaders, TextCall } from '../../lib/plugin/contract.ts';
import { messageOf, toolsOf } from './messages.ts';

export const AUTH_STYLES = ['x-api-key', 'bearer'] as const;

/** How requests look; a route's `options` may override it for one model. */
export interface Wire {
  /** Up to and without `/v1/messages`. An override stays on the same origin. */
  readonly baseUrl: string;
  /** The header `anthropic-version`. */
  readonly version: string;
  /** The header of the key: `x-api-key`, or `authorization: Bearer` as some compatible endpoints want it. */
  readonly auth: (typeof AUTH_STYLES)[number];
}

export type Settings = AccountSettings & Wire;

export function urlOf({ baseUrl }: Wire): string {
  return `${baseUrl.replace(/\/+$/, '')}/v1/messages`;
}

export function headersOf({ version }: Wire): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'anthropic-version': version,
  };
}

export function authOf({ auth }: Wire): KeyHeaders {
  return auth === 'bearer' ? (key) => ({ authorization: `Bearer ${key}` }) : (key) => ({ 'x-api-key': key });
}

export function bodyOf(call: TextCall, read: Host['argumentsOf']): JsonBody {
  const { model, maxTokens, system, messages } = call;
  return (base64) => ({
    model,
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    messages: messages.map((message) => messageOf(message, { base64, read })),
    ...toolsOf(call),
    stream: true,
  });
}
