// Roles and caps of members in words, for the pages that show them.
import type { Reset } from '../money/key-limits.ts';
import type { Role } from '../store/ports/users.ts';
import { defineWords } from './language.ts';
import type { Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    roles: { owner: 'owner', member: 'member', accountant: 'accountant' },
    resets: { none: 'in all', day: 'a day', week: 'a week', month: 'a month' },
  },
  ru: {
    roles: { owner: 'владелец', member: 'участник', accountant: 'бухгалтер' },
    resets: { none: 'всего', day: 'в день', week: 'в неделю', month: 'в месяц' },
  },
});

export function roleWords({ language }: Pick<Visit, 'language'>): Readonly<Record<Role, string>> {
  return WORDS[language].roles;
}

function resetWords({ language }: Pick<Visit, 'language'>): Readonly<Record<Reset, string>> {
  return WORDS[language].resets;
}

export function formatCap(visit: Pick<Visit, 'language' | 'format'>, { limit, reset }: MemberCapWords): string {
  return `${visit.format.rub(limit)} ${resetWords(visit)[reset]}`;
}

interface MemberCapWords {
  readonly limit: bigint;
  readonly reset: Reset;
}
