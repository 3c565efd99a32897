// Settings of an upstream that speaks chat completions, and the request one text call becomes.
import type { HostRequest, TextCall, TextMessage } from '../../lib/plugin/contract.ts';

export const MAX_TOKENS_PARAMS = ['max_tokens', 'max_completion_tokens'] as const;
export const USAGE_STYLES = ['stream_options', 'usage_include', 'none'] as const;
export const AUTH_STYLES = ['bearer', 'api-key', 'x-api-key', 'none'] as const;
export const DELTA_STYLES = ['incremental', 'cumulative'] as const;

/** What a route's `options` may override for one model. */
export interface Wire {
  /** Up to and without `/chat/completions`; a query string stays at the end. An override stays on the same origin. */
  readonly baseUrl: string;
  /** The field that limits the answer: the vendor's reasoning models often take only `max_completion_tokens`. */
  readonly maxTokensParam: (typeof MAX_TOKENS_PARAMS)[number];
  /**
   * How token counts are asked for: `stream_options` sends `stream_options: {include_usage: true}`, `usage_include`
   * sends `usage: {include: true}` (OpenRouter), `none` sends nothing, for servers that refuse both or count unasked.
   */
  readonly usage: (typeof USAGE_STYLES)[number];
  /** The header of the key: `authorization: Bearer`, `api-key` (Azure), `x-api-key`, or none. */
  readonly auth: (typeof AUTH_STYLES)[number];
  /** `cumulative` for an upstream whose every delta repeats the whole text so far. */
  readonly deltas: (typeof DELTA_STYLES)[number];
}

export interface Settings extends Wire {
  /** One key, or several that take turns; absent for servers that ask for none. */
  readonly apiKey?: string | readonly string[];
  readonly proxy?: string;
}

/** The settings of one call: the upstream's, with the valid overrides of the route. */
export function wireOf(settings: Settings, options: TextCall['options']): Wire {
  return {
    baseUrl: typeof options.baseUrl === 'string' ? options.baseUrl : settings.baseUrl,
    maxTokensParam: pick(MAX_TOKENS_PARAMS, options.maxTokensParam, settings.maxTokensParam),
    usage: pick(USAGE_STYLES, options.usage, settings.usage),
    auth: pick(AUTH_STYLES, options.auth, settings.auth),
    deltas: pick(DELTA_STYLES, options.deltas, settings.deltas),
  };
}

function pick<T>(allowed: readonly T[], override: unknown, byDefault: T): T {
  return allowed.includes(override as T) ? (override as T) : byDefault;
}

/** Names of the options this plugin reads whose value it does not know: a mistake in the catalog. */
export function unknownOptions(options: TextCall['options']): string[] {
  const allowed: Record<string, readonly unknown[]> = {
    maxTokensParam: MAX_TOKENS_PARAMS,
    usage: USAGE_STYLES,
    auth: AUTH_STYLES,
    deltas: DELTA_STYLES,
  };
  const wrong = Object.keys(allowed).filter((name) => name in options && !allowed[name]?.includes(options[name]));
  return 'baseUrl' in options && typeof options.baseUrl !== 'string' ? ['baseUrl', ...wrong] : wrong;
}

export function urlOf({ baseUrl }: Wire): string {
  const at = baseUrl.indexOf('?');
  const path = at < 0 ? baseUrl : baseUrl.slice(0, at);
  return `${path.replace(/\/+$/, '')}/chat/completions${at < 0 ? '' : baseUrl.slice(at)}`;
}

export function requestOf(call: TextCall, wire: Wire, key: string | undefined): Omit<HostRequest, 'signal'> {
  return { method: 'POST', headers: headersOf(wire, key), body: JSON.stringify(bodyOf(call, wire)) };
}

function headersOf({ auth }: Wire, key: string | undefined): Record<string, string> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream, application/json' };
  if (key === undefined || auth === 'none') return headers;
  return auth === 'bearer' ? { ...headers, authorization: `Bearer ${key}` } : { ...headers, [auth]: key };
}

function bodyOf(call: TextCall, { maxTokensParam, usage }: Wire): object {
  const messages: object[] = call.messages.map(messageOf);
  if (call.system !== undefined) messages.unshift({ role: 'system', content: call.system });
  return {
    model: call.model,
    messages,
    stream: true,
    [maxTokensParam]: call.maxTokens,
    ...(usage === 'stream_options' && { stream_options: { include_usage: true } }),
    ...(usage === 'usage_include' && { usage: { include: true } }),
  };
}

/** One block goes as a plain string: small servers read nothing else. */
function messageOf({ role, content }: TextMessage): object {
  const [first] = content;
  if (first && content.length === 1) return { role, content: first.text };
  return { role, content: content.map(({ text }) => ({ type: 'text', text })) };
}
