// Details of companies for tests: of public registers, with accounts whose check digits fit.
import type { Buyer, Seller } from '../lib/payments/papers/details.ts';

export const SELLER: Seller = {
  name: 'ООО «Шлюз»',
  inn: '7736050003',
  kpp: '773601001',
  ogrn: '1027700070518',
  address: '117420, г. Москва, ул. Намёткина, д. 16',
  bank: 'ПАО СБЕРБАНК, г. Москва',
  bik: '044525225',
  account: '40702810938000000001',
  correspondent: '30101810400000000225',
  post: 'Генеральный директор',
  signer: 'Иванов И. И.',
  vat: '22',
  vatBasis: '',
  service: 'Услуги доступа к API нейросетей',
  contract: 'Публичная оферта от 01.10.2026',
  days: 5,
};

export const BUYER: Buyer = {
  name: 'АО «Ромашка»',
  inn: '7707083893',
  kpp: '773601001',
  address: '117997, г. Москва, ул. Вавилова, д. 19',
};

/** As a form sends them. */
export const SELLER_FORM: Readonly<Record<string, string>> = { ...SELLER, days: `${SELLER.days}` };
export const BUYER_FORM: Readonly<Record<string, string>> = { ...BUYER };
