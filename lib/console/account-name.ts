// Renames an account, for its owners and for operators.
import { OperatorError } from '../base/operator-error.ts';
import type { Account } from '../store/ports/accounts.ts';
import { audit } from './audit.ts';
import type { Form } from './forms.ts';
import { defineWords } from './language.ts';
import type { UserVisit, Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Account name',
    hint: 'Everybody in the account and the operators of the service see it.',
    button: 'Rename',
    bad: 'A name must have 1 to 100 characters, without control characters.',
  },
  ru: {
    title: 'Название аккаунта',
    hint: 'Его видят все участники аккаунта и операторы сервиса.',
    button: 'Переименовать',
    bad: 'Название: от 1 до 100 символов, кроме управляющих.',
  },
});

export function accountNameWords({ language }: Pick<Visit, 'language'>) {
  return WORDS[language];
}

/** The value of `change` in the form, whose field is `name`. */
export const RENAME = 'rename';

/** Resolves to why the name was refused. */
export async function renameAccount(
  visit: UserVisit,
  { id, name: before }: Pick<Account, 'id' | 'name'>,
  sent: Form,
): Promise<string | undefined> {
  try {
    const { name } = await visit.services.accounts.rename(id, sent.text('name'));
    if (name !== before)
      await audit(visit, { action: 'account.rename', target: id, account: id, detail: { name, before } });
    return undefined;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return accountNameWords(visit).bad;
  }
}
