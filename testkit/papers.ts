// Details of companies for tests: of public registers, with accounts whose check digits fit.
import type { Buyer, Seller } from '../lib/payments/papers/details.ts';
import type { AuditLine } from '../lib/store/ports/audit-log.ts';

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

/** Of the audit log. */
export const LINE: AuditLine = {
  at: 1_800_000_000_000,
  user: 'usr_operator',
  action: 'bank.dismiss',
  account: null,
  target: 'bank:1',
  detail: '{}',
  address: '127.0.0.1',
};

/** As a form sends them. */
export const SELLER_FORM: Readonly<Record<string, string>> = { ...SELLER, days: `${SELLER.days}` };
export const BUYER_FORM: Readonly<Record<string, string>> = { ...BUYER };

/** A document of a bank statement, by the names of the format; what is left out has the usual value. */
export type StatementFields = Readonly<Record<string, string>>;

interface StatementOptions {
  readonly encoding?: 'Windows' | 'DOS' | 'UTF-8';
  readonly end?: string;
}

const ENCODINGS = { Windows: 'windows-1251', DOS: 'ibm866' } as const;

/** A statement as banks export it: received payments of the buyer, unless a document says otherwise. */
export function writeStatement(
  documents: readonly StatementFields[],
  { encoding = 'Windows', end = 'КонецФайла' }: StatementOptions = {},
): Buffer {
  const usual: StatementFields = {
    Номер: '41',
    Дата: '27.11.2026',
    Сумма: '10000.50',
    ДатаПоступило: '28.11.2026',
    Плательщик: BUYER.name,
    ПлательщикИНН: BUYER.inn,
    ПлательщикСчет: '40702810000000000777',
    ПолучательСчет: SELLER.account,
  };
  const sections = documents.flatMap((fields) => [
    'СекцияДокумент=Платежное поручение',
    ...Object.entries({ ...usual, ...fields }).map(([name, value]) => `${name}=${value}`),
    'КонецДокумента',
  ]);
  const head = ['1CClientBankExchange', 'ВерсияФормата=1.03', `Кодировка=${encoding}`];
  const section = ['СекцияРасчСчет', `РасчСчет=${SELLER.account}`, 'КонецРасчСчет'];
  const text = [...head, ...section, ...sections, end, ''].join('\r\n');
  return encoding === 'UTF-8' ? Buffer.from(text) : encodeBytes(text, ENCODINGS[encoding]);
}

function encodeBytes(text: string, encoding: string): Buffer {
  const letters = new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return Buffer.from([...text].map((letter) => letters.indexOf(letter)));
}
