// The letters that pages send: each carries one link that works once.
import type { Mail } from '../users/mail.ts';
import { defineWords, type Language } from './language.ts';

export type LetterKind = 'reset' | 'invite' | 'verify';

const WORDS = defineWords({
  en: {
    subjects: { reset: 'A new password', invite: 'You are invited to an account', verify: 'Confirm your address' },
    texts: {
      reset: 'Somebody, probably you, asked for a new password. This link sets one, once, within an hour:',
      invite: 'You are invited to an account on Tollgate. This link lets you in, once, within a week:',
      verify: 'This link confirms your address and opens your account, once, within a day:',
    },
    ignore: 'If you did not expect this, you need do nothing.',
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
