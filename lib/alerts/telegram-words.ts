// What the bot says to people, apart from alerts, and what they are mailed when their chat can get no more.
import type { User } from '../store/ports/users.ts';

type Language = User['language'];

interface Words {
  /** HTML; `email` is escaped. */
  readonly linked: (email: string) => string;
  readonly unknown: string;
  readonly help: (url: string) => string;
  readonly endedSubject: string;
  readonly ended: (chat: string, url: string) => string;
}

export const TELEGRAM_WORDS: Readonly<Record<Language, Words>> = {
  en: {
    linked: (email) =>
      `Done: alerts for <b>${email}</b> arrive here. To stop them, unlink the chat on the alerts page, or block this bot.`,
    unknown: 'This code is unknown, used or expired: it works once, within an hour. Get a new one on the alerts page.',
    help: (url) =>
      `This bot only sends alerts. To get them here, press “Link Telegram” on the alerts page: ${url}/account/settings/alerts`,
    endedSubject: 'No more alerts in Telegram',
    ended: (chat, url) =>
      `Telegram does not let our bot write to ${chat} any more: the bot was blocked there, or the chat was deleted. The chat is unlinked. Alerts keep coming by email; link a chat again on the alerts page if you want them in Telegram too:\n\n${url}\n`,
  },
  ru: {
    linked: (email) =>
      `Готово: сюда будут приходить оповещения для <b>${email}</b>. Чтобы их больше не получать, отключите Telegram на странице оповещений или заблокируйте бота.`,
    unknown:
      'Код не подошёл: он неверный, уже использован или устарел. Код действует один раз и не дольше часа — получите новый на странице оповещений.',
    help: (url) =>
      `Этот бот только присылает оповещения. Чтобы получать их здесь, нажмите «Подключить Telegram» на странице оповещений: ${url}/account/settings/alerts`,
    endedSubject: 'Оповещения в Telegram отключены',
    ended: (chat, url) =>
      `Telegram больше не даёт нашему боту писать в чат ${chat}: бот заблокирован или чат удалён. Мы отключили этот чат. Оповещения по-прежнему приходят на почту; если они нужны и в Telegram, подключите его заново на странице оповещений:\n\n${url}\n`,
  },
};

/** Of somebody who is not known yet, by the language of their app. */
export function chooseTelegramLanguage(code: string): Language {
  return /^ru\b/i.test(code) ? 'ru' : 'en';
}
