// The account in an operator's filter, named as customers name it: by its id or by its name.
import type { Store } from '../store/store.ts';
import { message } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords, type Language } from './language.ts';

const WORDS = defineWords({
  en: {
    label: 'Account name or ID',
    several: 'Several accounts have this name. Choose one of',
    customers: 'these customers',
  },
  ru: {
    label: 'Название или ID аккаунта',
    several: 'Такое название у нескольких аккаунтов. Выберите одного из',
    customers: 'этих клиентов',
  },
});

export interface NamedAccount {
  /** The id of the account; what was typed, which is no account's id, if none or several are called so. */
  readonly id: string;
  readonly isAmbiguous: boolean;
}

export function accountFilterLabel(language: Language): string {
  return WORDS[language].label;
}

/** Undefined without a text. Names are compared whole, in any case. */
export async function findNamedAccount(
  { accounts }: Pick<Store, 'accounts'>,
  text: string,
): Promise<NamedAccount | undefined> {
  if (text === '') return undefined;
  if (await accounts.get(text)) return { id: text, isAmbiguous: false };
  const wanted = text.toLowerCase();
  const found = (await accounts.summaries()).filter(({ name }) => name.toLowerCase() === wanted);
  const [first, ...others] = found;
  return { id: first && others.length === 0 ? first.id : text, isAmbiguous: others.length > 0 };
}

/** Undefined unless several accounts are called so. */
export function ambiguousAccountNote(
  language: Language,
  text: string,
  account: NamedAccount | undefined,
): Html | undefined {
  if (!account?.isAmbiguous) return undefined;
  const words = WORDS[language];
  const link = `/admin/accounts?${new URLSearchParams({ q: text })}`;
  return message('error', html`${words.several} <a href="${link}">${words.customers}</a>.`);
}
