// The details of both sides of papers: of the seller, which the operator keeps, and of each buyer, which owners do.
import { isOneLine } from '../../base/one-line.ts';
import type { PaperRow } from '../../store/ports/papers.ts';
import type { Store } from '../../store/store.ts';
import { isBankAccount, isBik, isCorrespondentAccount, isInn, isKpp, isOgrn, isProprietor } from './tax-ids.ts';
import { isVatRate, type VatRate } from './vat.ts';

/** Who buys. Empty texts are left out of papers. */
export interface Buyer {
  readonly name: string;
  readonly inn: string;
  /** Empty for a sole proprietor. */
  readonly kpp: string;
  readonly address: string;
}

/** Who sells, and where the money is to go. */
export interface Seller extends Buyer {
  readonly ogrn: string;
  readonly bank: string;
  readonly bik: string;
  readonly account: string;
  readonly correspondent: string;
  /** Who signs: the post and the name. */
  readonly post: string;
  readonly signer: string;
  readonly vat: VatRate;
  /** Why there is no tax, or by which article; may be empty. */
  readonly vatBasis: string;
  /** What is sold, as papers name it. */
  readonly service: string;
  /** The contract or public offer that papers refer to; may be empty. */
  readonly contract: string;
  /** How many days an invoice can be paid. */
  readonly days: number;
}

export const SELLER_FIELDS = [
  'name',
  'inn',
  'kpp',
  'ogrn',
  'address',
  'bank',
  'bik',
  'account',
  'correspondent',
  'post',
  'signer',
  'vat',
  'vatBasis',
  'service',
  'contract',
  'days',
] as const satisfies readonly (keyof Seller)[];
export type SellerField = (typeof SELLER_FIELDS)[number];

export const BUYER_FIELDS = ['name', 'inn', 'kpp', 'address'] as const satisfies readonly (keyof Buyer)[];
export type BuyerField = (typeof BUYER_FIELDS)[number];

type Typed<Field extends string> = Readonly<Record<Field, string>>;

const LINE_MAX = 200;
const DAYS_MAX = 60;

/** Details that were read, or the fields that are wrong. */
export type Checked<Details, Field> = { readonly details: Details } | { readonly wrong: readonly Field[] };

export function checkBuyer(typed: Typed<BuyerField>): Checked<Buyer, BuyerField> {
  const wrong = findWrongParty(typed);
  const { name, inn, kpp, address } = typed;
  return wrong.length > 0 ? { wrong } : { details: { name, inn, kpp, address } };
}

export function checkSeller(typed: Typed<SellerField>): Checked<Seller, SellerField> {
  const { inn, ogrn, bik, account, correspondent, vat } = typed;
  const days = /^\d{1,3}$/.test(typed.days) ? Number(typed.days) : 0;
  const rules: readonly (readonly [SellerField, boolean])[] = [
    ['ogrn', isOgrn(ogrn) && (ogrn.length === 15) === isProprietor(inn)],
    ['bank', isLine(typed.bank)],
    ['bik', isBik(bik)],
    ['account', isBankAccount(account, bik)],
    ['correspondent', correspondent === '' || isCorrespondentAccount(correspondent, bik)],
    ['post', typed.post === '' || isLine(typed.post)],
    ['signer', isLine(typed.signer)],
    ['vat', isVatRate(vat)],
    ['vatBasis', typed.vatBasis === '' || isLine(typed.vatBasis)],
    ['service', isLine(typed.service)],
    ['contract', typed.contract === '' || isLine(typed.contract)],
    ['days', days > 0 && days <= DAYS_MAX],
  ];
  const wrong = [...findWrongParty(typed), ...rules.filter(([, isRight]) => !isRight).map(([field]) => field)];
  return wrong.length > 0 ? { wrong } : { details: { ...typed, vat: vat as VatRate, days } };
}

function findWrongParty({ name, inn, kpp, address }: Typed<BuyerField>): readonly BuyerField[] {
  const rules: readonly (readonly [BuyerField, boolean])[] = [
    ['name', isLine(name)],
    ['inn', isInn(inn)],
    ['kpp', isProprietor(inn) ? kpp === '' : isKpp(kpp)],
    ['address', isLine(address)],
  ];
  return rules.filter(([, isRight]) => !isRight).map(([field]) => field);
}

function isLine(text: string): boolean {
  return text !== '' && text.length <= LINE_MAX && isOneLine(text);
}

const SELLER_SETTING = 'papers.seller';

/** Undefined until an operator has set them: then there are no papers. */
export async function readSeller({ settings }: Pick<Store, 'settings'>): Promise<Seller | undefined> {
  const text = await settings.get(SELLER_SETTING);
  return text === undefined ? undefined : JSON.parse(text);
}

export async function saveSeller({ settings }: Pick<Store, 'settings'>, seller: Seller): Promise<void> {
  await settings.set(SELLER_SETTING, JSON.stringify(seller));
}

/** Undefined until somebody of the account has set them. */
export async function readBuyer({ papers }: Pick<Store, 'papers'>, account: string): Promise<Buyer | undefined> {
  const row = await papers.get('buyer', account);
  return row && JSON.parse(row.content);
}

/** False if somebody else changed them at this very moment. */
export async function saveBuyer(
  { papers }: Pick<Store, 'papers'>,
  account: string,
  { buyer, at }: { readonly buyer: Buyer; readonly at: number },
): Promise<boolean> {
  const before = await papers.get('buyer', account);
  const row: PaperRow = {
    kind: 'buyer',
    id: account,
    number: null,
    account,
    state: 'set',
    at: before?.at ?? at,
    version: (before?.version ?? 0) + 1,
    content: JSON.stringify(buyer),
  };
  return papers.change([row]);
}
