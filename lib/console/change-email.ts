// Emails users about changes to how they sign in, so that a change by a stranger is noticed.
import type { User } from '../store/ports/users.ts';
import type { Mail } from '../users/mail.ts';
import { defineWords, getFormat } from './language.ts';
import type { Visit } from './visit.ts';

export type SignInChange = 'password' | 'app' | 'app_replaced' | 'app_removed' | 'codes' | 'restored';

const WORDS = defineWords({
  en: {
    subjects: {
      password: 'Your password was changed',
      app: 'Two-step sign-in was turned on',
      app_replaced: 'Your authenticator app was replaced',
      app_removed: 'Two-step sign-in was turned off',
      codes: 'Your recovery codes were replaced',
      restored: 'Your password and authenticator app were reset',
    },
    texts: {
      password: 'The password you use to sign in to Tollgate was changed.',
      app: 'An authenticator app was set up. Signing in to Tollgate now requires a code from it.',
      app_replaced: 'A new authenticator app was set up; the previous one no longer works.',
      app_removed: 'The authenticator app was removed. Signing in to Tollgate now requires only the password.',
      codes: 'New recovery codes were created; the previous ones no longer work.',
      restored:
        'A new password was set with a link from the operator, and the authenticator app was removed or replaced.',
    },
    when: (time: string, address: string) => `Time: ${time}\nIP address: ${address}`,
    ok: 'If this was you, you do not need to do anything.',
    reset: (link: string) => `If this was not you, set a new password and tell the operator of this service: ${link}`,
    tell: 'If this was not you, tell another operator of this service at once.',
  },
  ru: {
    subjects: {
      password: 'Пароль изменён',
      app: 'Двухэтапный вход включён',
      app_replaced: 'Приложение-аутентификатор заменено',
      app_removed: 'Двухэтапный вход отключён',
      codes: 'Коды восстановления обновлены',
      restored: 'Пароль и двухэтапный вход сброшены',
    },
    texts: {
      password: 'Пароль для входа в Tollgate изменён.',
      app: 'Настроено приложение-аутентификатор. Теперь для входа в Tollgate нужен код из него.',
      app_replaced: 'Настроено новое приложение-аутентификатор; прежнее больше не действует.',
      app_removed: 'Приложение-аутентификатор отключено. Теперь для входа в Tollgate нужен только пароль.',
      codes: 'Созданы новые коды восстановления; прежние больше не действуют.',
      restored: 'По ссылке от оператора задан новый пароль; приложение-аутентификатор отключено или заменено.',
    },
    when: (time: string, address: string) => `Время: ${time}\nIP-адрес: ${address}`,
    ok: 'Если это были вы, ничего делать не нужно.',
    reset: (link: string) => `Если это были не вы, задайте новый пароль и сообщите оператору сервиса: ${link}`,
    tell: 'Если это были не вы, сразу сообщите другому оператору сервиса.',
  },
});

/** Does nothing without a mail server. Not awaited: a slow mail server must not delay the page. */
export function mailSignInChange({ services, address }: Visit, user: User, change: SignInChange): void {
  const { mailer, log, publicUrl, now } = services;
  const mail = writeChangeEmail(user, change, { at: now(), address, publicUrl: publicUrl() });
  mailer?.send(mail).catch((err: unknown) => log.error({ err, user: user.id, change }, 'could not send an email'));
}

interface Circumstances {
  readonly at: number;
  readonly address: string;
  readonly publicUrl: string;
}

function writeChangeEmail(
  { email, language, timeZone, operator }: User,
  change: SignInChange,
  { at, address, publicUrl }: Circumstances,
): Mail {
  const words = WORDS[language];
  const paragraphs = [
    words.texts[change],
    words.when(getFormat(language, timeZone).time(at), address),
    words.ok,
    operator ? words.tell : words.reset(`${publicUrl}/reset`),
  ];
  return { to: email, subject: words.subjects[change], text: `${paragraphs.join('\n\n')}\n` };
}
