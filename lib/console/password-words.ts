// Messages about what is wrong with a new password.
import { PASSWORD_LENGTH_MIN, type PasswordProblem } from '../users/password.ts';
import { defineWords, type Language } from './language.ts';

interface PasswordWords {
  readonly hint: string;
  readonly differs: string;
  readonly problems: Readonly<Record<PasswordProblem, string>>;
}

const WORDS = defineWords<PasswordWords>({
  en: {
    hint: `At least ${PASSWORD_LENGTH_MIN} characters. A few words are easier to remember than symbols.`,
    differs: 'The passwords do not match.',
    problems: {
      short: `The password is shorter than ${PASSWORD_LENGTH_MIN} characters.`,
      long: 'The password is too long.',
      common: 'This password is too easy to guess. Choose another.',
    },
  },
  ru: {
    hint: `Не меньше ${PASSWORD_LENGTH_MIN} символов. Несколько слов запомнить проще, чем набор знаков.`,
    differs: 'Пароли не совпадают.',
    problems: {
      short: `Пароль короче ${PASSWORD_LENGTH_MIN} символов.`,
      long: 'Пароль слишком длинный.',
      common: 'Этот пароль слишком легко подобрать. Выберите другой.',
    },
  },
});

export function passwordWords(language: Language): PasswordWords {
  return WORDS[language];
}
