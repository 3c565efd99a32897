// Links private chats with the bot to users. One gateway at a time listens to the bot, by a lease in the store: Telegram
// delivers to one listener only, and keeps messages until that one says that it has read them.
import type { Logger } from 'pino';
import { abortableDelay } from '../base/abort.ts';
import type { TelegramChat, User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';
import type { People } from '../users/people.ts';
import { escapeTelegram, type TelegramBot, TelegramFailure, type TelegramMessage } from './telegram-bot.ts';
import { chooseTelegramLanguage, TELEGRAM_WORDS } from './telegram-words.ts';

interface TelegramChatsOptions {
  readonly store: Pick<Store, 'alerts' | 'users' | 'auditLog'>;
  readonly people: Pick<People, 'useTelegramLink'>;
  readonly bot: TelegramBot;
  readonly publicUrl: () => string;
  /** This process, as the holder of the lease. */
  readonly ownerId: string;
  readonly log: Pick<Logger, 'warn'>;
  /** ms since the epoch. */
  readonly now?: () => number;
  /** How long one request waits for messages. */
  readonly waitS?: number;
  readonly leaseMs?: number;
}

interface TelegramChats {
  start(): void;
  /** Ends listening and gives the lease back, so that another gateway can go on at once. */
  stop(): Promise<void>;
}

const WAIT_S = 25;
/** Its half is longer than a request takes. */
const LEASE_MS = 90_000;
const FAILURE_PAUSE_MS = { first: 5_000, most: 60_000 };
/** The lease is stored as the alarm of an account that does not exist. */
const LEASE = { account: 'telegram', subject: 'listener' };
/** Answers to people who have sent no valid code: so few that Telegram has no reason to make alerts wait. */
const STRANGERS = { most: 20, mostPerChat: 3, everyMs: 10_000 };
const TOKEN = /^(?:\/start\s+)?([\w-]{43})$/;

export function createTelegramChats(options: TelegramChatsOptions): TelegramChats {
  const { store, people, bot, publicUrl, ownerId, log, now = Date.now, waitS = WAIT_S, leaseMs = LEASE_MS } = options;
  const ending = new AbortController();
  const { signal } = ending;
  let running: Promise<void> | undefined;
  let from: number | undefined;
  /** The chats that such answers went to, and since when. */
  let answered: string[] = [];
  let answeredSince = 0;

  async function run(): Promise<void> {
    let pauseMs = FAILURE_PAUSE_MS.first;
    while (!signal.aborted) {
      try {
        if (await holdLease()) await listenOnce();
        else await abortableDelay(leaseMs / 4, signal);
        pauseMs = FAILURE_PAUSE_MS.first;
      } catch (err) {
        if (signal.aborted) return;
        log.warn({ err }, 'could not read the messages to the Telegram bot');
        const wantedMs = err instanceof TelegramFailure ? (err.retryAfterMs ?? 0) : 0;
        await abortableDelay(Math.max(pauseMs, wantedMs), signal).catch(() => undefined);
        pauseMs = Math.min(2 * pauseMs, FAILURE_PAUSE_MS.most);
      }
    }
  }

  async function listenOnce(): Promise<void> {
    const { messages, next } = await bot.listen(from, waitS, signal);
    for (const message of messages) {
      await answer(message);
      from = message.id + 1;
    }
    from = next;
  }

  async function readLease() {
    const row = (await store.alerts.alarms(LEASE.account)).find(({ subject }) => subject === LEASE.subject);
    const { owner, until } = row
      ? (JSON.parse(row.state) as { owner: string; until: number })
      : { owner: '', until: 0 };
    // A lease that ends further ahead than any was written by a clock that ran ahead.
    const isLive = until > now() && until <= now() + 2 * leaseMs;
    return { row: row ?? { ...LEASE, state: '', version: 0 }, isMine: isLive && owner === ownerId, isLive, until };
  }

  async function holdLease(): Promise<boolean> {
    const { row, isMine, isLive, until } = await readLease();
    if (isLive && !isMine) return false;
    if (isMine && until - now() > leaseMs / 2) return true;
    return store.alerts.changeAlarm({ ...row, state: JSON.stringify({ owner: ownerId, until: now() + leaseMs }) });
  }

  async function giveLeaseBack(): Promise<void> {
    const { row, isMine } = await readLease();
    if (isMine) await store.alerts.changeAlarm({ ...row, state: JSON.stringify({ owner: '', until: 0 }) });
  }

  /** Only commands and codes are answered. */
  async function answer(message: TelegramMessage): Promise<void> {
    const text = message.text.trim();
    const [, token] = TOKEN.exec(text) ?? [];
    const words = TELEGRAM_WORDS[chooseTelegramLanguage(message.language)];
    if (token !== undefined) {
      const user = await linkChat(message, token);
      if (user) await reply(message, TELEGRAM_WORDS[user.language].linked(escapeTelegram(user.email)));
      else await replyToStranger(message, words.unknown);
    } else if (text.startsWith('/')) await replyToStranger(message, escapeTelegram(words.help(publicUrl())));
  }

  /** Whoever floods the bot would otherwise use up what it may send. */
  async function replyToStranger(message: TelegramMessage, html: string): Promise<void> {
    const sinceMs = now() - answeredSince;
    if (sinceMs < 0 || sinceMs >= STRANGERS.everyMs) {
      answered = [];
      answeredSince = now();
    }
    const inChat = answered.filter((chat) => chat === message.chat).length;
    if (answered.length >= STRANGERS.most || inChat >= STRANGERS.mostPerChat) return;
    answered.push(message.chat);
    await reply(message, html);
  }

  async function linkChat({ chat, name }: TelegramMessage, token: string): Promise<User | undefined> {
    const id = await people.useTelegramLink(token);
    const user = id === undefined ? undefined : await changeChat(store.users, id, { id: chat, name });
    if (!user) return undefined;
    const row = { user: user.id, action: 'telegram.link', account: null, target: user.id, address: 'telegram' };
    await store.auditLog.append({ ...row, at: now(), detail: JSON.stringify({ chat: name }) });
    return user;
  }

  /** Without an answer the chat is linked all the same: the page says so. */
  async function reply({ chat }: TelegramMessage, html: string): Promise<void> {
    await bot.send(chat, html, signal).catch((err: unknown) => {
      signal.throwIfAborted();
      log.warn({ err }, 'the Telegram bot could not answer');
    });
  }

  return {
    start() {
      running = run();
    },
    async stop() {
      ending.abort(new Error('the gateway is stopping'));
      await running;
      await giveLeaseBack().catch((err: unknown) =>
        log.warn({ err }, 'could not give back the lease of the Telegram bot'),
      );
    },
  };
}

const ATTEMPTS = 5;

/** Sets or removes (`undefined`) the chat of an active user; resolves to the user, or undefined if there is none. */
export async function changeChat(
  users: Pick<Store['users'], 'get' | 'change'>,
  id: string,
  chat: TelegramChat | undefined,
): Promise<User | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const user = await users.get(id);
    if (user?.status !== 'active') return undefined;
    const { telegram: _, ...others } = user;
    if (await users.change({ ...others, ...(chat && { telegram: chat }) })) return user;
  }
  throw new Error(`the user ${id} keeps changing`);
}
