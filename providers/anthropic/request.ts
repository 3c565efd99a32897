// Settings of a messages upstream, and the request for one text call.
import type { AccountSettings, Host, JsonBody, KeyHeaders, TextCall } from '../../lib/upstream/contract/provider.ts';
import { writeStrictTools } from './strict.ts';

export const AUTH_STYLES = ['x-api-key', 'bearer'] as const;
export const THINKING_STYLES = ['adaptive', 'budget'] as const;
export const SYSTEM_STYLES = ['in_place', 'prompt'] as const;
export const UNSIGNED_STYLES = ['omit', 'send', 'blank'] as const;
export const CACHE_STYLES = ['beside', 'included'] as const;
export const OFF_STYLES = ['disabled', 'between_tools', 'low'] as const;

/** How requests look; a route's `options` may override it for one model. */
interface Wire {
  /** Up to and without `/v1/messages`. An override stays on the same origin. */
  readonly baseUrl: string;
  /** The header `anthropic-version`. */
  readonly version: string;
  /** The header of the key: `x-api-key`, or `authorization: Bearer` as some compatible endpoints want it. */
  readonly auth: (typeof AUTH_STYLES)[number];
  /** How thinking is asked for: `adaptive` with an effort, or, of older models, by a `budget` of tokens. */
  readonly thinking: (typeof THINKING_STYLES)[number];
  /**
   * How reasoning is turned off: for models that reason between tool calls anyway, or always and then at `low` effort.
   */
  readonly thinkingOff: (typeof OFF_STYLES)[number];
  /** Where system messages between others go: they stay, or become part of the prompt for endpoints without them. */
  readonly systemMessages: (typeof SYSTEM_STYLES)[number];
  /**
   * `send` for vendors that do not sign their thoughts, and want those before calls back; `blank` for those that want at
   * least a blank one before each call.
   */
  readonly unsignedThinking: (typeof UNSIGNED_STYLES)[number];
  /** `included` for endpoints whose `input_tokens` include cached tokens, which would be billed twice. */
  readonly cachedInput: (typeof CACHE_STYLES)[number];
  /** The betas that a client may ask for. */
  readonly betas: readonly string[];
}

export type Settings = AccountSettings & Wire;

export function buildMessagesUrl({ baseUrl }: Wire): string {
  return `${baseUrl}/v1/messages`;
}

export function buildMessagesHeaders({ betas = [] }: TextCall, wire: Wire): Readonly<Record<string, string>> {
  const allowed = betas.filter((beta) => wire.betas.includes(beta));
  return {
    accept: 'text/event-stream, application/json',
    'anthropic-version': wire.version,
    ...(allowed.length > 0 && { 'anthropic-beta': allowed.join(',') }),
  };
}

export function chooseKeyHeaders({ auth }: Wire, { bearer }: Host): KeyHeaders {
  return auth === 'bearer' ? bearer : (key) => ({ 'x-api-key': key });
}

export function buildMessagesBody(call: TextCall, wire: Wire, host: Host): JsonBody {
  const takesUnsigned = wire.unsignedThinking !== 'omit';
  const needsThoughts = wire.unsignedThinking === 'blank';
  const { output_config: asked, ...thinking } = host.message.thinking(call, {
    by: wire.thinking,
    off: wire.thinkingOff,
    takesUnsigned,
    needsThoughts,
  });
  return (base64) => ({
    ...host.message.body(writeStrictTools(call, host), base64, {
      keepsSystemMessages: wire.systemMessages === 'in_place',
      keepsUnsignedThoughts: takesUnsigned,
      needsThoughts,
    }),
    ...pickMessageFields(call, wire),
    ...thinking,
    ...writeOutputConfig(call, asked as object | undefined, host),
  });
}

/** The field of a beta is refused in a request that does not ask for the beta. */
function pickMessageFields({ messageFields = {}, betas = [] }: TextCall, wire: Wire): object {
  const { context_management: edits, ...fields } = messageFields;
  const isManaged = betas.some((beta) => beta.startsWith('context-management-') && wire.betas.includes(beta));
  return { ...fields, ...(isManaged && { context_management: edits }) };
}

/** JSON without a schema is not supported here. */
function writeOutputConfig({ format }: TextCall, asked: object | undefined, { closeSchema }: Host): object {
  if (format?.type !== 'json-schema') return asked ? { output_config: asked } : {};
  return { output_config: { format: { type: 'json_schema', schema: closeSchema(format.schema) }, ...asked } };
}
