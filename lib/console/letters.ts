// The emails that pages send: each carries one one-time link.
import type { Mail } from '../users/mail.ts';
import { defineWords, type Language } from './language.ts';

export type LetterKind = 'reset' | 'invite' | 'verify';

const WORDS = defineWords({
  en: {
    subjects: {
      reset: 'Reset your password',
      invite: 'You have been invited to an account',
      verify: 'Confirm your address',
    },
    texts: {
      reset: 'Someone, probably you, asked to reset your password. This link works once and expires in an hour:',
      invite: 'You have been invited to an account on Tollgate. This link works once and expires in a week:',
      verify: 'This link confirms your address and opens your account. It works once and expires in a day:',
    },
    ignore: 'If you did not expect this, you can ignore this email.',
  },
  ru: {
    subjects: { reset: 'Новый пароль', invite: 'Приглашение в аккаунт', verify: 'Подтвердите адрес' },
    texts: {
      reset: 'Кто-то, вероятно вы, запросил новый пароль. Ссылка задаёт его один раз в течение часа:',
      invite: 'Вас приглашают в аккаунт Tollgate. Ссылка впускает один раз в течение недели:',
      verify: 'Ссылка подтверждает адрес и открывает аккаунт один раз в течение суток:',
    },
    ignore: 'Если вы этого не ждали, ничего делать не нужно.',
  },
});

export function letter(kind: LetterKind, to: string, { language, link }: { language: Language; link: string }): Mail {
  const words = WORDS[language];
  return { to, subject: words.subjects[kind], text: `${words.texts[kind]}\n\n${link}\n\n${words.ignore}\n` };
}
