// What a tour of the pages finds of grants and promo codes.
import type { TestAccount } from './gateway.ts';
import type { Visitor } from './pages.ts';

/** A grant that ends, one that does not, one a month, and a promo code. */
export async function giveBonuses(operator: Visitor, { id }: TestAccount): Promise<void> {
  const grant = { change: 'grant', amount: '300', reason: 'Пробный доступ' };
  await operator.submit(`/admin/accounts/${id}`, { ...grant, last: '2099-12-31' });
  await operator.submit(`/admin/accounts/${id}`, { ...grant, amount: '50' });
  const monthly = { change: 'grant_monthly', amount: '500', reason: 'Для сотрудников' };
  await operator.submit(`/admin/accounts/${id}`, monthly);
  const promo = { change: 'create', promo: 'SPRING', amount: '300', uses: '100', days: '30', last: '2099-12-31' };
  await operator.submit('/admin/promo', { ...promo, reason: 'Весенняя акция' });
}
