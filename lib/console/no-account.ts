// What somebody sees who belongs to no account, such as a member who was removed.
import { message } from './components.ts';
import { html } from './html.ts';
import { defineWords } from './language.ts';
import type { UserVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    title: 'No account',
    text: 'You do not belong to any account: you left yours, or an owner removed you.',
    next: 'To come back, ask an owner to invite you again.',
    email: (email: string) => `You are signed in as ${email}.`,
  },
  ru: {
    title: 'Нет аккаунта',
    text: 'Вы не состоите ни в одном аккаунте: вы покинули его сами или вас удалил владелец.',
    next: 'Чтобы вернуться, попросите владельца пригласить вас снова.',
    email: (email: string) => `Вы вошли как ${email}.`,
  },
});

export function noAccountPage({ language, signedIn }: UserVisit) {
  const words = WORDS[language];
  const body = html`${message('error', words.text)}<p>${words.next}</p><p class="hint">${words.email(signedIn.user.email)}</p>`;
  return { title: words.title, body, status: 404, isAlone: true };
}
