// Settings of an upstream that speaks messages, and the request one text call becomes.
import type { HostRequest, TextCall, TextMessage } from '../../lib/plugin/contract.ts';

export const AUTH_STYLES = ['x-api-key', 'bearer'] as const;

/** What a route's `options` may override for one model. */
export interface Wire {
  /** Up to and without `/v1/messages`. An override stays on the same origin. */
  readonly baseUrl: string;
  /** The header `anthropic-version`. */
  readonly version: string;
  /** The header of the key: `x-api-key`, or `authorization: Bearer` as some compatible endpoints want it. */
  readonly auth: (typeof AUTH_STYLES)[number];
}

export interface Settings extends Wire {
  /** One key, or several that take turns; absent for servers that ask for none. */
  readonly apiKey?: string | readonly string[];
  readonly proxy?: string;
}

/** The settings of one call: the upstream's, with the valid overrides of the route. */
export function wireOf({ baseUrl, version, auth }: Settings, options: TextCall['options']): Wire {
  return {
    baseUrl: typeof options.baseUrl === 'string' ? options.baseUrl : baseUrl,
    version: typeof options.version === 'string' ? options.version : version,
    auth: AUTH_STYLES.find((style) => style === options.auth) ?? auth,
  };
}

/** Names of the options this plugin reads whose value it does not know: a mistake in the catalog. */
export function unknownOptions(options: TextCall['options']): string[] {
  const wrong = ['baseUrl', 'version'].filter((name) => name in options && typeof options[name] !== 'string');
  return 'auth' in options && !AUTH_STYLES.some((style) => style === options.auth) ? [...wrong, 'auth'] : wrong;
}

export function urlOf({ baseUrl }: Wire): string {
  return `${baseUrl.replace(/\/+$/, '')}/v1/messages`;
}

export function requestOf(call: TextCall, wire: Wire, key: string | undefined): Omit<HostRequest, 'signal'> {
  return { method: 'POST', headers: headersOf(wire, key), body: JSON.stringify(bodyOf(call)) };
}

function headersOf({ auth, version }: Wire, key: string | undefined): Record<string, string> {
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'anthropic-version': version,
  };
  if (key === undefined) return headers;
  return auth === 'bearer' ? { ...headers, authorization: `Bearer ${key}` } : { ...headers, 'x-api-key': key };
}

function bodyOf({ model, maxTokens, system, messages }: TextCall): object {
  return {
    model,
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    messages: messages.map(messageOf),
    stream: true,
  };
}

/** One block goes as a plain string: it reads the same and small servers take nothing else. */
function messageOf({ role, content }: TextMessage): object {
  const [first] = content;
  if (first && content.length === 1) return { role, content: first.text };
  return { role, content: content.map(({ text }) => ({ type: 'text', text })) };
}
