// The emails that pages send: each carries one one-time link.
import type { Mail } from '../users/mail.ts';
import { defineWords, type Language } from './language.ts';

export type LinkEmailKind = 'reset' | 'invite' | 'verify';

const WORDS = defineWords({
  en: {
    subjects: {
      reset: 'Reset your password',
      invite: 'You have been invited to an account',
      verify: 'Confirm your email address',
    },
    texts: {
      reset:
        'Someone, probably you, asked to reset your password. Set a new one with this link; it works once and expires in an hour:',
      invite:
        'You have been invited to an account on Tollgate. Accept the invitation with this link; it works once and expires in a week:',
      verify: 'Confirm your address and open your account with this link; it works once and expires in a day:',
    },
    ignore: 'If you did not expect this email, you can ignore it.',
  },
  ru: {
    subjects: { reset: 'Сброс пароля', invite: 'Приглашение в аккаунт', verify: 'Подтвердите почту' },
    texts: {
      reset:
        'Кто-то (вероятно, вы) запросил сброс пароля. Задайте новый по ссылке; она сработает один раз в течение часа:',
      invite:
        'Вас пригласили в аккаунт Tollgate. Примите приглашение по ссылке; она сработает один раз в течение недели:',
      verify: 'Подтвердите почту и откройте аккаунт по ссылке; она сработает один раз в течение суток:',
    },
    ignore: 'Если вы не ждали этого письма, ничего делать не нужно.',
  },
});

export function writeLinkEmail(
  kind: LinkEmailKind,
  to: string,
  { language, link }: { language: Language; link: string },
): Mail {
  const words = WORDS[language];
  return { to, subject: words.subjects[kind], text: `${words.texts[kind]}\n\n${link}\n\n${words.ignore}\n` };
}
