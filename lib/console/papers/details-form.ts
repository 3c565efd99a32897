// The forms for the details of a buyer and of the seller.
import {
  BUYER_FIELDS,
  type Buyer,
  type BuyerField,
  SELLER_FIELDS,
  type Seller,
  type SellerField,
} from '../../payments/papers/details.ts';
import { VAT_RATES } from '../../payments/papers/vat.ts';
import { field, select } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords, type Language } from '../language.ts';

type Texts = Readonly<Record<SellerField, string>>;

const WORDS = defineWords<{
  readonly labels: Texts;
  readonly hints: Partial<Texts>;
  readonly wrong: Texts;
  readonly vat: Readonly<Record<(typeof VAT_RATES)[number], string>>;
}>({
  en: {
    labels: {
      name: 'Name (наименование)',
      inn: 'Tax number (ИНН)',
      kpp: 'КПП',
      ogrn: 'ОГРН or ОГРНИП',
      address: 'Registered address',
      bank: 'Bank',
      bik: 'БИК',
      account: 'Settlement account (расчётный счёт)',
      correspondent: 'Correspondent account (корр. счёт)',
      post: 'Position of the signatory',
      signer: 'Name of the signatory',
      vat: 'VAT (НДС)',
      vatBasis: 'Grounds for VAT exemption',
      service: 'Name of the service',
      contract: 'Contract or public offer (оферта)',
      days: 'Days to pay an invoice',
    },
    hints: {
      name: 'As in the register, such as ООО «Ромашка».',
      kpp: 'Leave empty for a sole proprietor.',
      correspondent: 'Leave empty if the bank has none.',
      post: 'Leave empty for a sole proprietor.',
      vatBasis: 'Printed after “Без НДС”, so in Russian. May be empty.',
      service: 'Printed on invoices and acts, so in Russian.',
      contract: 'Printed as “Основание”. May be empty.',
    },
    wrong: {
      name: 'Enter the name, at most 200 characters.',
      inn: 'Enter 10 or 12 digits; the check digits of this number do not match.',
      kpp: 'A company has a КПП of 9 characters; a sole proprietor has none.',
      ogrn: 'Enter 13 digits for a company or 15 for a sole proprietor; check the last digit.',
      address: 'Enter the address, at most 200 characters.',
      bank: 'Enter the name of the bank, at most 200 characters.',
      bik: 'A БИК has 9 digits.',
      account: 'Enter 20 digits; this account does not fit the БИК.',
      correspondent: 'Enter 20 digits; this account does not fit the БИК.',
      post: 'At most 200 characters.',
      signer: 'Enter the name, at most 200 characters.',
      vat: 'Choose a rate.',
      vatBasis: 'At most 200 characters.',
      service: 'Enter a name, at most 200 characters.',
      contract: 'At most 200 characters.',
      days: 'Enter a number from 1 to 60.',
    },
    vat: { none: 'no VAT', '5': '5% (simplified system)', '7': '7% (simplified system)', '22': '22%' },
  },
  ru: {
    labels: {
      name: 'Наименование',
      inn: 'ИНН',
      kpp: 'КПП',
      ogrn: 'ОГРН или ОГРНИП',
      address: 'Юридический адрес',
      bank: 'Банк',
      bik: 'БИК',
      account: 'Расчётный счёт',
      correspondent: 'Корреспондентский счёт',
      post: 'Должность подписанта',
      signer: 'ФИО подписанта',
      vat: 'НДС',
      vatBasis: 'Основание освобождения от НДС',
      service: 'Наименование услуги',
      contract: 'Договор или оферта',
      days: 'Срок оплаты счёта, дней',
    },
    hints: {
      name: 'Как в ЕГРЮЛ или ЕГРИП, например ООО «Ромашка».',
      kpp: 'Для ИП оставьте пустым.',
      correspondent: 'Оставьте пустым, если у банка его нет.',
      post: 'Для ИП оставьте пустым.',
      vatBasis: 'Печатается после слов «Без НДС», например: применение УСН, ст. 145 НК РФ. Можно оставить пустым.',
      service: 'Печатается в счетах и актах.',
      contract: 'Печатается в строке «Основание». Можно оставить пустым.',
    },
    wrong: {
      name: 'Введите наименование, не длиннее 200 символов.',
      inn: 'Введите 10 или 12 цифр. Контрольные цифры этого ИНН не сходятся.',
      kpp: 'У организации КПП из 9 символов, у ИП его нет.',
      ogrn: 'Введите 13 цифр для организации или 15 для ИП. Проверьте последнюю цифру.',
      address: 'Введите адрес, не длиннее 200 символов.',
      bank: 'Введите название банка, не длиннее 200 символов.',
      bik: 'В БИК 9 цифр.',
      account: 'Введите 20 цифр. Этот счёт не подходит к БИК.',
      correspondent: 'Введите 20 цифр. Этот счёт не подходит к БИК.',
      post: 'Не длиннее 200 символов.',
      signer: 'Введите ФИО, не длиннее 200 символов.',
      vat: 'Выберите ставку.',
      vatBasis: 'Не длиннее 200 символов.',
      service: 'Введите наименование, не длиннее 200 символов.',
      contract: 'Не длиннее 200 символов.',
      days: 'Введите число от 1 до 60.',
    },
    vat: { none: 'без НДС', '5': '5\u00a0% (УСН)', '7': '7\u00a0% (УСН)', '22': '22\u00a0%' },
  },
});

const OPTIONAL: ReadonlySet<SellerField> = new Set(['kpp', 'correspondent', 'post', 'vatBasis', 'contract']);
const DIGITS: ReadonlySet<SellerField> = new Set(['inn', 'ogrn', 'bik', 'account', 'correspondent', 'days']);

/** What a form shows: stored or typed texts, and which of them are wrong. */
export interface FormState<Field extends string> {
  readonly typed: Partial<Readonly<Record<Field, string>>>;
  readonly wrong?: readonly Field[];
  /** The form with the typed texts. */
  readonly sent?: Form;
}

function detailField(language: Language, name: SellerField, { typed, wrong = [] }: FormState<SellerField>): Html {
  const { labels, hints, wrong: problems, vat } = WORDS[language];
  const chosen = typed[name] ?? '';
  if (name === 'vat')
    return select(
      { name, label: labels.vat, chosen },
      VAT_RATES.map((rate) => [rate, vat[rate]] as const),
    );
  const hint = hints[name];
  return field({
    name,
    label: labels[name],
    value: chosen,
    optional: OPTIONAL.has(name),
    ...(hint !== undefined && { hint }),
    ...(DIGITS.has(name) && { inputmode: 'numeric' as const }),
    ...(wrong.includes(name) && { error: problems[name] }),
  });
}

export function buyerFields(language: Language, state: FormState<BuyerField>): Html {
  return html`${BUYER_FIELDS.map((name) => detailField(language, name, state))}`;
}

export function sellerFields(language: Language, state: FormState<SellerField>): Html {
  return html`${SELLER_FIELDS.map((name) => detailField(language, name, state))}`;
}

/** The labels and texts of a buyer, to be read. */
export function listBuyerDetails(language: Language, buyer: Buyer): readonly (readonly [string, string])[] {
  const filled = BUYER_FIELDS.filter((name) => buyer[name] !== '');
  return filled.map((name) => [WORDS[language].labels[name], buyer[name]]);
}

/** People copy numbers with spaces. */
export function readTyped<Field extends SellerField>(sent: Form, fields: readonly Field[]): Record<Field, string> {
  const read = (name: Field) => (DIGITS.has(name) ? sent.text(name).replaceAll(/\s/g, '') : sent.text(name));
  return Object.fromEntries(fields.map((name) => [name, read(name)])) as Record<Field, string>;
}

export function toTyped(seller: Seller): Record<SellerField, string> {
  return { ...seller, days: `${seller.days}` };
}
