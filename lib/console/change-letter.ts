// Tells a person by mail what was changed about how they sign in, so that a thief's change does not stay unnoticed.
import type { User } from '../store/ports/users.ts';
import type { Mail } from '../users/mail.ts';
import { defineWords, formatOf } from './language.ts';
import type { Visit } from './visit.ts';

export type SignInChange = 'password' | 'app' | 'app_replaced' | 'app_removed' | 'codes' | 'restored';

const WORDS = defineWords({
  en: {
    subjects: {
      password: 'Your password was changed',
      app: 'An authenticator app was set up',
      app_replaced: 'Your authenticator app was replaced',
      app_removed: 'Your authenticator app was removed',
      codes: 'Your recovery codes were renewed',
      restored: 'Your password and authenticator app were reset',
    },
    texts: {
      password: 'The password with which you sign in to Tollgate was changed.',
      app: 'An authenticator app was set up: signing in to Tollgate asks for its code from now on.',
      app_replaced: 'Another authenticator app was set up; the one before is no use any more.',
      app_removed: 'The authenticator app was removed: signing in to Tollgate asks only for the password now.',
      codes: 'New recovery codes were made; those before are no use any more.',
      restored:
        'With a link from the operator a new password was set, and the authenticator app was taken away or replaced.',
    },
    when: (time: string, address: string) => `Time: ${time}\nNetwork address: ${address}`,
    ok: 'If it was you, there is nothing to do.',
    reset: (link: string) => `If it was not you, set a new password and tell the operator of this service: ${link}`,
    tell: 'If it was not you, tell another operator of this service at once.',
  },
  ru: {
    subjects: {
      password: 'Ваш пароль сменён',
      app: 'Настроено приложение с кодами',
      app_replaced: 'Приложение с кодами заменено',
      app_removed: 'Приложение с кодами отключено',
      codes: 'Коды восстановления обновлены',
      restored: 'Пароль и приложение с кодами сброшены',
    },
    texts: {
      password: 'Пароль, с которым вы входите в Tollgate, сменён.',
      app: 'Настроено приложение с кодами: теперь при входе в Tollgate нужен код из него.',
      app_replaced: 'Настроено другое приложение с кодами; прежнее больше не действует.',
      app_removed: 'Приложение с кодами отключено: для входа в Tollgate теперь нужен только пароль.',
      codes: 'Созданы новые коды восстановления; прежние больше не действуют.',
      restored: 'По ссылке от оператора задан новый пароль, приложение с кодами отключено или заменено.',
    },
    when: (time: string, address: string) => `Время: ${time}\nСетевой адрес: ${address}`,
    ok: 'Если это были вы, ничего делать не нужно.',
    reset: (link: string) => `Если это были не вы, задайте новый пароль и сообщите оператору сервиса: ${link}`,
    tell: 'Если это были не вы, сразу сообщите другому оператору сервиса.',
  },
});

/** Nothing without a mail server. Not awaited: a slow mail server must not keep the person waiting. */
export function tellOfChange({ services, address }: Visit, user: User, change: SignInChange): void {
  const { mailer, log, publicUrl, now } = services;
  const letter = changeLetter(user, change, { at: now(), address, publicUrl: publicUrl() });
  mailer?.send(letter).catch((err: unknown) => log.error({ err, user: user.id, change }, 'could not send an email'));
}

interface Circumstances {
  readonly at: number;
  readonly address: string;
  readonly publicUrl: string;
}

export function changeLetter(
  { email, language, timeZone, operator }: User,
  change: SignInChange,
  { at, address, publicUrl }: Circumstances,
): Mail {
  const words = WORDS[language];
  const paragraphs = [
    words.texts[change],
    words.when(formatOf(language, timeZone).time(at), address),
    words.ok,
    operator ? words.tell : words.reset(`${publicUrl}/reset`),
  ];
  return { to: email, subject: words.subjects[change], text: `${paragraphs.join('\n\n')}\n` };
}
