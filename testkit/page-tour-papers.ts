// What a tour of the pages finds of papers for companies.
import { describePurpose, orderInvoice } from '../lib/payments/papers/invoices.ts';
import type { TestAccount, TestGateway } from './gateway.ts';
import type { At } from './page-tour-management.ts';
import type { Visitor } from './pages.ts';
import { BUYER, BUYER_FORM, SELLER, SELLER_FORM, writeStatement } from './papers.ts';

/** Issued in an earlier month. */
const ACT_MONTH = '2026-09';
const ACT = {
  ...{ begin: '0', chargedBegin: '0', end: '73410004000', chargedEnd: '73910004000' },
  ...{ grants: '500000000', paidBegin: '0', paidEnd: '100000000000' },
};

export interface Papers {
  readonly invoice: string;
}

/** The details of both sides, and an invoice to be paid. */
export async function makePapers(
  { store }: Pick<TestGateway, 'store'>,
  { id: account }: TestAccount,
  { operator, owner }: Readonly<Record<'operator' | 'owner', Visitor>>,
): Promise<Papers> {
  await operator.submit('/admin/papers', SELLER_FORM);
  await owner.submit('/account/papers', { ...BUYER_FORM, change: 'details' });
  const terms = { account, seller: SELLER, buyer: BUYER, user: '-', zone: 'Europe/Moscow', now: Date.now() };
  const ordered = await orderInvoice(store, { ...terms, id: '', amount: 150_000_500_000n });
  if ('refusal' in ordered) throw new Error(`no invoice: ${ordered.refusal}`);
  const { id, kopecks } = ordered.invoice;
  const paid = { Сумма: `${kopecks / 100n}.50`, НазначениеПлатежа: describePurpose(ordered.invoice) };
  const unsure = {
    Номер: '42',
    Сумма: '7000.00',
    НазначениеПлатежа: 'Оплата за доступ к нейросетям, НДС не облагается',
  };
  const again = { ...paid, Номер: '43', ПлательщикИНН: '500100732259', Плательщик: 'ИП Ким Анна Сергеевна' };
  const content = writeStatement([paid, unsure, again]);
  await operator.upload('/admin/papers/bank', [{ name: 'statement', fileName: 'statement.txt', content }]);
  await store.papers.issue({
    ...{ kind: 'act', id: `${account}:${ACT_MONTH}`, account, state: 'issued', at: Date.now() },
    content: JSON.stringify({ ...ACT, month: ACT_MONTH, zone: terms.zone, seller: SELLER, buyer: BUYER, user: '-' }),
  });
  return { invoice: id };
}

export function listPaperStops<Stop>(at: At<Stop>, { invoice }: Papers): readonly Stop[] {
  return [
    at('/account/papers', 'papers'),
    at('/account/papers', 'papers-wrong', {
      does: [
        ['#amount', '7'],
        ['form:has(#amount) button', true],
      ],
    }),
    at('/account/papers', 'papers-no-act', { does: [['form:has(#month) button', true]] }),
    at('/account/papers/acts/{month}', 'papers-act', { path: `/account/papers/acts/${ACT_MONTH}` }),
    at('/account/papers/invoices/{id}', 'invoice', { path: `/account/papers/invoices/${invoice}` }),
  ];
}

export function listOperatorPaperStops<Stop>(at: At<Stop>, { invoice }: Papers, account: string): readonly Stop[] {
  return [
    at('/admin/papers', 'papers'),
    at('/admin/papers', 'papers-wrong', {
      does: [
        ['#inn', '7736050004'],
        ['form:has(#inn) button', true],
      ],
    }),
    at('/admin/papers/bank', 'papers-bank'),
    at('/admin/papers/invoices/{id}', 'invoice', { path: `/admin/papers/invoices/${invoice}` }),
    at('/admin/accounts/{id}/papers/{month}', 'papers-act', { path: `/admin/accounts/${account}/papers/${ACT_MONTH}` }),
    at('/admin/accounts/{id}/papers', 'account-papers', { path: `/admin/accounts/${account}/papers` }),
  ];
}
