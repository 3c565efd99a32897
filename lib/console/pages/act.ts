// One act, to be printed.
import { fault } from '../../base/faults.ts';
import { type Act, findAct, readMonth } from '../../payments/papers/acts.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Page, page } from '../page.ts';
import { formatPageMonth } from '../papers/act-list.ts';
import { renderAct } from '../papers/act-paper.ts';
import { linkTo, type OwnerVisit, type UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: (month: string) => `Act: ${month}`,
    print: 'To get a PDF, print this page and choose “Save as PDF”. The act itself is in Russian.',
    back: 'All documents',
  },
  ru: {
    title: (month: string) => `Акт: ${month}`,
    print: 'Чтобы сохранить акт в PDF, откройте печать этой страницы и выберите «Сохранить как PDF».',
    back: 'Все документы',
  },
});

export const act = page({
  path: '/account/papers/acts/{month}',
  who: 'account',
  get: async (visit) => actPage(visit, await findRequested(visit, visit.account.id), '/account/papers'),
});

export const adminAct = page({
  path: '/admin/accounts/{id}/papers/{month}',
  who: 'operator',
  async get(visit) {
    const id = String(visit.request.params.id);
    return actPage(visit, await findRequested(visit, id), `/admin/accounts/${id}/papers`);
  },
});

async function findRequested({ services, request }: UserVisit, account: string): Promise<Act> {
  const month = readMonth(String(request.params.month));
  const found = month === undefined ? undefined : await findAct(services.store, account, month);
  if (!found) throw fault('not_found');
  return found;
}

function actPage(visit: UserVisit & Partial<Pick<OwnerVisit, 'accounts'>>, found: Act, back: string): Page {
  const words = WORDS[visit.language];
  const body = html`<p class="screen">${words.print}</p>
${renderAct(found)}
<p class="screen"><a href="${linkTo(visit, back)}">${words.back}</a></p>`;
  return { title: words.title(formatPageMonth(visit.language, found.month)), body };
}
