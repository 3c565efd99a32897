// The wallet: what can be spent, how money came and went, and how to add some.
import { fault } from '../../faults.ts';
import { FIRST_TOPUP_MINIMUM } from '../../money/decide.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { facts } from '../parts.ts';
import { linkTo } from '../visit.ts';
import { entryTable } from './call.ts';

const WORDS = defineWords({
  en: {
    title: 'Wallet',
    spendable: 'Available',
    held: 'Held by running calls',
    charged: 'Total charged',
    topped: 'Total paid',
    adjusted: 'Corrections by the operator',
    how: 'Add money',
    howText: (minimum: string, account: string) =>
      `Ask the operator of this service to top up the account ${account}. The first payment is at least ${minimum}.`,
    entries: 'Entries',
    none: 'There are no entries yet.',
    older: 'Older entries',
  },
  ru: {
    title: 'Кошелёк',
    spendable: 'Можно потратить',
    held: 'Удержано идущими вызовами',
    charged: 'Списано всего',
    topped: 'Внесено всего',
    adjusted: 'Поправки оператора',
    how: 'Пополнить',
    howText: (minimum: string, account: string) =>
      `Попросите оператора сервиса пополнить аккаунт ${account}. Первый платёж — не меньше ${minimum}.`,
    entries: 'Записи',
    none: 'Записей пока нет.',
    older: 'Записи раньше',
  },
});

const PER_PAGE = 50;

export const wallet = page({
  path: '/account/wallet',
  who: 'owner',
  async get(visit) {
    const { services, account, format, query } = visit;
    const words = WORDS[visit.language];
    const before = /^\d{1,15}$/.test(query.get('before') ?? '') ? Number(query.get('before')) : undefined;
    const [found, entries] = await Promise.all([
      services.store.ledger.wallet(account.id),
      services.store.ledger.entries(account.id, { limit: PER_PAGE, ...(before !== undefined && { before }) }),
    ]);
    if (!found) throw fault('internal', {}, new Error(`account ${account.id} has no wallet`));
    const last = entries.length === PER_PAGE ? entries.at(-1) : undefined;
    const body = html`${facts([
      [words.spendable, html`<strong class="big">${format.rub(found.avail)}</strong>`],
      [words.held, format.rub(found.held)],
      [words.charged, format.rub(found.charged)],
      [words.topped, format.rub(found.topped)],
      ...(found.adjusted === 0n ? [] : [[words.adjusted, format.rub(found.adjusted)] as const]),
    ])}
<h2>${words.how}</h2>
<p>${words.howText(format.rub(FIRST_TOPUP_MINIMUM), account.id)}</p>
<h2>${words.entries}</h2>
${entries.length === 0 ? html`<p>${words.none}</p>` : entryTable(visit, entries)}
${last && html`<p><a href="${linkTo(visit, `/account/wallet?before=${last.seq}`)}" rel="next">${words.older}</a></p>`}`;
    return { title: words.title, body };
  },
});
