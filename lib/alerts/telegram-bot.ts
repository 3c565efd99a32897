// A client of Telegram's Bot API (https://core.telegram.org/bots/api): who the bot is, what people write to it, messages.
import { withDeadline } from '../media/deadline.ts';

export interface TelegramBotOptions {
  /** As BotFather gives it. It is part of every URL, so no URL may reach a log. */
  readonly token: string;
  /** `https://api.telegram.org`, or a Bot API server of one's own; without a slash at the end. */
  readonly api: string;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** A text that somebody has sent to the bot in a private chat. */
export interface TelegramMessage {
  /** Telegram's number of the update. */
  readonly id: number;
  readonly chat: string;
  /** How Telegram shows the sender: `Anna Petrova (@anna)`. */
  readonly name: string;
  /** The language of the sender's app, such as `ru` or `en-US`; may be empty. */
  readonly language: string;
  readonly text: string;
}

export interface TelegramUpdates {
  readonly messages: readonly TelegramMessage[];
  /** The number after the last update: a request from there on tells Telegram that all before were read. */
  readonly next: number | undefined;
}

export interface TelegramBot {
  /** Its name, without `@`. Asked for once. */
  readName(signal: AbortSignal): Promise<string>;
  /** The webhook that is set for the bot, which keeps updates from us; empty if there is none. */
  readWebhook(signal: AbortSignal): Promise<string>;
  /** Sends a text in Telegram's HTML. While Telegram asks to wait, it rejects without asking. */
  send(chat: string, html: string, signal: AbortSignal): Promise<void>;
  /** Waits up to `waitS` seconds for messages; those before `from` will not be delivered again. */
  listen(from: number | undefined, waitS: number, signal: AbortSignal): Promise<TelegramUpdates>;
}

/** All methods reject with it, or with the signal's reason. */
export class TelegramFailure extends Error {
  override readonly name = 'TelegramFailure';
  /** The HTTP status; undefined if Telegram did not answer. */
  readonly status: number | undefined;
  /** How long to wait before the next message. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {}) {
    super(message);
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** Whether the chat can get no more messages: the person has blocked the bot or is gone, or another bot linked it. */
  get isChatClosed(): boolean {
    return this.status === 403 || (this.status === 400 && /chat not found/i.test(this.message));
  }
}

const TIMEOUT_MS = 10_000;
const UPDATES_MAX = 50;
/** Telegram takes 4,096 characters; the rest is for the marks of HTML. */
export const MESSAGE_LENGTH_MAX = 3500;

interface Reply {
  readonly ok?: boolean;
  readonly result?: unknown;
  readonly description?: string;
  readonly parameters?: { readonly retry_after?: number };
}

export function createTelegramBot({ token, api, now = Date.now }: TelegramBotOptions): TelegramBot {
  let name: string | undefined;
  let pausedUntil = 0;

  async function call(method: string, fields: object, signal: AbortSignal, waitMs = 0): Promise<unknown> {
    const { status, reply } = await withDeadline(TIMEOUT_MS + waitMs, signal, (ending) =>
      post(method, fields, ending).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      }),
    );
    if (status === 200 && reply.ok) return reply.result;
    const retryAfterS = reply.parameters?.retry_after;
    const retryAfterMs = retryAfterS === undefined ? undefined : retryAfterS * 1000;
    throw new TelegramFailure(`Telegram answers ${status}: ${reply.description ?? ''}`, { status, retryAfterMs });
  }

  async function post(method: string, fields: object, signal: AbortSignal) {
    try {
      const response = await fetch(`${api}/bot${token}/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fields),
        redirect: 'error',
        signal,
      });
      return { status: response.status, reply: (await response.json().catch(() => ({}))) as Reply };
    } catch (error) {
      // The error may quote the URL, and with it the token.
      const { cause } = error as { readonly cause?: { readonly code?: string } };
      throw new TelegramFailure(`Telegram does not answer (${cause?.code ?? (signal.aborted ? 'slow' : 'network')})`);
    }
  }

  return {
    async readName(signal) {
      name ??= ((await call('getMe', {}, signal)) as { readonly username: string }).username;
      return name;
    },
    async readWebhook(signal) {
      return ((await call('getWebhookInfo', {}, signal)) as { readonly url?: string }).url ?? '';
    },
    async send(chat, html, signal) {
      const pauseMs = pausedUntil - now();
      if (pauseMs > 0) throw new TelegramFailure('Telegram asked to wait', { status: 429, retryAfterMs: pauseMs });
      const fields = { chat_id: chat, text: html, parse_mode: 'HTML', link_preview_options: { is_disabled: true } };
      try {
        await call('sendMessage', fields, signal);
      } catch (error) {
        if (error instanceof TelegramFailure && error.retryAfterMs) pausedUntil = now() + error.retryAfterMs;
        throw error;
      }
    },
    async listen(from, waitS, signal) {
      const fields = { offset: from, timeout: waitS, limit: UPDATES_MAX, allowed_updates: ['message'] };
      const updates = (await call('getUpdates', fields, signal, waitS * 1000)) as readonly Update[];
      const last = updates.at(-1);
      return { messages: updates.flatMap(readMessage), next: last ? last.update_id + 1 : from };
    },
  };
}

interface Update {
  readonly update_id: number;
  readonly message?: {
    readonly chat: { readonly id: number; readonly type: string };
    readonly text?: string;
    readonly from?: {
      readonly first_name?: string;
      readonly last_name?: string;
      readonly username?: string;
      readonly language_code?: string;
    };
  };
}

const NAME_LENGTH_MAX = 100;

/** None for everything that is not a text in a private chat. */
function readMessage({ update_id: id, message }: Update): readonly TelegramMessage[] {
  if (message?.chat.type !== 'private' || message.text === undefined) return [];
  const { chat, text, from = {} } = message;
  const { first_name: first = '', last_name: last = '', username, language_code: language = '' } = from;
  const parts = [first, last, username === undefined ? '' : first === '' ? `@${username}` : `(@${username})`];
  const name = parts.filter((part) => part !== '').join(' ');
  return [{ id, chat: String(chat.id), name: name.slice(0, NAME_LENGTH_MAX), language, text }];
}

/** For a text in Telegram's HTML. */
export function escapeTelegram(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
