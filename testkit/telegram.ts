// Telegram's Bot API on loopback, as https://core.telegram.org/bots/api describes it: updates that are kept until they are
// confirmed, one listener at a time, blocked chats, and waits.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const BOT_TOKEN = '123456:AAE-abcdefghijklmnopqrstuvwxyz_01234';

/** The variables of a bot whose server never answers. */
export const DEAF_BOT = { TELEGRAM_BOT_TOKEN: BOT_TOKEN, TELEGRAM_API: 'http://127.0.0.1:9' };

interface SentMessage {
  readonly chat: string;
  /** HTML. */
  readonly text: string;
}

export interface TelegramServer {
  /** For `TELEGRAM_API`. */
  readonly url: string;
  /** Messages that arrived in chats. */
  readonly sent: readonly SentMessage[];
  /** Requests by method, refused ones too. */
  readonly asked: Readonly<Record<string, number>>;
  /** Somebody writes to the bot; `from` replaces parts of the sender. */
  write(chat: number, text: string, from?: object): void;
  /** Any other message arrives. */
  arrive(message: object): void;
  /** Messages to these chats are refused from now on. */
  block(...chats: readonly number[]): void;
  /** The next messages are refused until so many seconds have passed. */
  throttle(seconds: number): void;
  /** Set for the bot. */
  webhook: string;
  /** Whether connections are cut. */
  isDown: boolean;
  stop(): Promise<void>;
}

interface Update {
  readonly update_id: number;
  readonly message: object;
}

export async function startTelegram(): Promise<TelegramServer> {
  const sent: SentMessage[] = [];
  const asked: Record<string, number> = {};
  const blocked = new Set<number>();
  let updates: Update[] = [];
  let nextId = 70_000;
  let busyUntil = 0;
  let listener: { end(): void; wake(): void } | undefined;

  const answer = (response: ServerResponse, result: unknown) => send(response, 200, { ok: true, result });
  const refuse = (response: ServerResponse, code: number, description: string, parameters?: object) =>
    send(response, code, { ok: false, error_code: code, description, parameters });

  function listen(response: ServerResponse, { offset = 0, timeout = 0, limit = 100 }: Record<string, number>): void {
    updates = updates.filter(({ update_id }) => update_id >= offset);
    listener?.end();
    const finish = (write: () => void) => {
      clearTimeout(timer);
      if (listener === own) listener = undefined;
      write();
    };
    const give = () => finish(() => answer(response, updates.slice(0, limit)));
    const own = {
      wake: give,
      end: () =>
        finish(() =>
          refuse(
            response,
            409,
            'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
          ),
        ),
    };
    const timer = setTimeout(give, timeout * 1000);
    listener = own;
    response.once('close', () => finish(() => undefined));
    if (updates.length > 0) give();
  }

  function deliver(response: ServerResponse, { chat_id: chat = '', text = '' }: Record<string, string>): void {
    const waitS = Math.ceil((busyUntil - Date.now()) / 1000);
    if (waitS > 0) refuse(response, 429, `Too Many Requests: retry after ${waitS}`, { retry_after: waitS });
    else if (blocked.has(Number(chat))) refuse(response, 403, 'Forbidden: bot was blocked by the user');
    else if (/<(?!\/?b>)/.test(text)) refuse(response, 400, "Bad Request: can't parse entities");
    else {
      sent.push({ chat, text });
      answer(response, { message_id: sent.length });
    }
  }

  const server = createServer(async (request, response) => {
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    asked[method] = (asked[method] ?? 0) + 1;
    const fields = await readJson(request);
    if (telegram.isDown) response.destroy();
    else if (token !== BOT_TOKEN) refuse(response, 401, 'Unauthorized');
    else if (method === 'getMe') answer(response, { id: 123456, is_bot: true, username: 'tollgate_test_bot' });
    else if (method === 'getWebhookInfo') answer(response, { url: telegram.webhook });
    else if (method === 'sendMessage') deliver(response, fields);
    else if (method !== 'getUpdates') refuse(response, 404, 'Not Found');
    else if (telegram.webhook === '') listen(response, fields);
    else refuse(response, 409, "Conflict: can't use getUpdates method while webhook is active");
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const telegram: TelegramServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    asked,
    webhook: '',
    isDown: false,
    write(chat, text, from = {}) {
      const sender = { id: chat, is_bot: false, first_name: 'Anna', username: 'anna', language_code: 'en', ...from };
      telegram.arrive({ chat: { id: chat, type: 'private' }, from: sender, text });
    },
    arrive(message) {
      nextId += 1;
      updates.push({ update_id: nextId, message });
      listener?.wake();
    },
    block: (...chats) => chats.forEach((chat) => void blocked.add(chat)),
    throttle(seconds) {
      busyUntil = Date.now() + seconds * 1000;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return telegram;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
async function readJson(request: IncomingMessage): Promise<any> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text || '{}');
}
