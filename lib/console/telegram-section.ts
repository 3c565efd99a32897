// The part of a page of alerts where somebody links the chat with the service's bot in which their alerts arrive.
import { changeChat } from '../alerts/telegram-chats.ts';
import { audit } from './audit.ts';
import { form, message } from './components.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { defineWords } from './language.ts';
import type { UserVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Telegram',
    text: 'Get all your alerts in a Telegram chat as well. Only you will see them.',
    link: 'Link Telegram',
    steps: 'Almost done:',
    open: (bot: string) => `open @${bot} in Telegram`,
    start: 'and press Start. If Telegram does not open on this device, find the bot there and send it this code:',
    once: 'The link and the code work once, within an hour.',
    check: 'Check that it worked',
    linked: (chat: string) => `Your alerts arrive in the chat of ${chat}.`,
    unlink: 'Unlink Telegram',
    down: 'Telegram does not answer right now. Try again later.',
  },
  ru: {
    title: 'Telegram',
    text: 'Все ваши оповещения могут приходить ещё и в Telegram. Видеть их будете только вы.',
    link: 'Подключить Telegram',
    steps: 'Осталось немного:',
    open: (bot: string) => `откройте @${bot} в Telegram`,
    start:
      'и нажмите «Запустить». Если Telegram на этом устройстве не открылся, найдите бота сами и отправьте ему код:',
    once: 'Ссылка и код действуют один раз, в течение часа.',
    check: 'Проверить, получилось ли',
    linked: (chat: string) => `Оповещения приходят вам в чат: ${chat}.`,
    unlink: 'Отключить Telegram',
    down: 'Telegram сейчас не отвечает. Попробуйте позже.',
  },
});

/** A way to link a chat, made for this page only. */
export interface TelegramOffer {
  readonly bot: string;
  readonly token: string;
}

interface SectionOptions {
  /** Of the page. */
  readonly action: string;
  /** What each form needs besides. */
  readonly fields?: HtmlValue;
  readonly offer?: TelegramOffer | 'down' | undefined;
}

/** Undefined if the service has no bot. */
export function telegramSection(visit: UserVisit, { action, fields, offer }: SectionOptions): Html | undefined {
  const { services, signedIn, language } = visit;
  if (!services.telegram) return undefined;
  const words = WORDS[language];
  const { telegram: chat } = signedIn.user;
  const button = (change: string, text: string) =>
    form(visit, {
      action,
      button: text,
      fields: html`<input type="hidden" name="change" value="${change}">${fields}`,
    });
  return html`<h2 id="telegram">${words.title}</h2>
${offer === 'down' && message('error', words.down)}
${chat ? html`<p>${words.linked(chat.name === '' ? chat.id : chat.name)}</p>${button('telegram-unlink', words.unlink)}` : typeof offer === 'object' ? offerSteps(visit, action, offer) : html`<p>${words.text}</p>${button('telegram-link', words.link)}`}`;
}

function offerSteps({ language }: UserVisit, action: string, { bot, token }: TelegramOffer): Html {
  const words = WORDS[language];
  return html`<p class="message done" role="status">${words.steps} <a href="https://t.me/${bot}?start=${token}" rel="noreferrer">${words.open(bot)}</a>
${words.start}<br><code class="key" data-copy>${token}</code><br>${words.once}</p>
<p><a class="button" href="${action}">${words.check}</a></p>`;
}

/** Makes a one-time code; a new one replaces the one before. */
export async function offerTelegram({ services, signedIn }: UserVisit): Promise<TelegramOffer | 'down'> {
  const { telegram, people, log } = services;
  try {
    const bot = await telegram?.readName(AbortSignal.timeout(NAME_MS));
    if (bot === undefined) return 'down';
    return { bot, token: await people.makeLink({ purpose: 'telegram', user: signedIn.user.id }) };
  } catch (err) {
    log.warn({ err }, 'the name of the Telegram bot is unknown');
    return 'down';
  }
}

const NAME_MS = 5_000;

export async function unlinkTelegram(visit: UserVisit): Promise<void> {
  const { services, signedIn } = visit;
  const { id, telegram } = signedIn.user;
  await changeChat(services.store.users, id, undefined);
  await audit(visit, { action: 'telegram.unlink', target: id, detail: { chat: telegram?.name ?? '' } });
}
