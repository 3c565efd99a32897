// The calls of one account for an operator, with the filters of the owner's list.
import { readZone } from '../../accounts/zone.ts';
import { fault } from '../../base/faults.ts';
import { archivedNote } from '../archived-note.ts';
import { chargeFilterForm, chargeQueryText, readChargeQuery } from '../charge-query.ts';
import { searchCharges } from '../charge-search.ts';
import { html } from '../html.ts';
import { defineWords, getFormat } from '../language.ts';
import { page } from '../page.ts';
import type { OwnerVisit, UserVisit } from '../visit.ts';
import { furtherLinks, readUpTo } from './calls.ts';
import { chargeTable, chargeWords } from './charge-table.ts';

const WORDS = defineWords({
  en: {
    title: (name: string) => `Calls: ${name}`,
    none: 'No calls match.',
    older: 'Older calls',
    back: 'Back to the customer',
  },
  ru: {
    title: (name: string) => `Запросы: ${name}`,
    none: 'Таких запросов нет.',
    older: 'Более ранние запросы',
    back: 'К клиенту',
  },
});

const PER_PAGE = 50;

export const adminAccountCalls = page({
  path: '/admin/accounts/{id}/calls',
  who: 'operator',
  async get(operator) {
    const visit = await openCustomer(operator);
    const { account, services, query, language } = visit;
    const words = WORDS[language];
    const { ledger, keys } = services.store;
    const selection = readChargeQuery(visit);
    const before = query.get('before') ?? undefined;
    const part = { upTo: readUpTo(visit), isWhole: query.get('whole') === 'yes' };
    const [found, all] = await Promise.all([
      searchCharges(ledger, account.id, { limit: PER_PAGE, filter: selection.filter, before, ...part }),
      keys.list(account.id),
    ]);
    const { charges } = found;
    const { kinds, states } = chargeWords(visit);
    const last = charges.length === PER_PAGE ? charges.at(-1) : undefined;
    const older = last && `${visit.path}${chargeQueryText(visit, { before: last.id, upTo: found.upTo })}`;
    const body = html`<p><a href="/admin/accounts/${account.id}">${words.back}</a></p>
${chargeFilterForm(visit, selection, { keys: all, kinds, states })}
${charges.length === 0 ? !found.rest && html`<p>${words.none}</p>` : chargeTable(visit, charges, { keys: all, href: (id) => `/admin/ledger?id=${encodeURIComponent(id)}` })}
${older !== undefined && html`<p><a href="${older}" rel="next">${words.older}</a></p>`}
${found.rest && furtherLinks(visit, found.rest)}
${await archivedNote(visit)}`;
    return { title: words.title(account.name), body };
  },
});

/** The pages of a customer show what the owner sees, in the days of the account. */
export async function openCustomer(visit: UserVisit): Promise<OwnerVisit> {
  const { services, request, language, signedIn } = visit;
  const account = await services.store.accounts.get(String(request.params.id));
  if (!account) throw fault('not_found');
  const zone = await readZone(services.store.users, account.id, signedIn.user);
  return { ...visit, account, accounts: [], role: 'owner', zone, format: getFormat(language, zone) };
}
