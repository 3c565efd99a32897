// The text of the QR code on an invoice by ГОСТ Р 56042-2014: banking apps fill in the payment from it.

export interface BankQrFields {
  readonly name: string;
  readonly account: string;
  readonly bank: string;
  readonly bik: string;
  readonly correspondent: string;
  readonly kopecks: bigint;
  readonly purpose: string;
  readonly inn: string;
  readonly kpp: string;
}

/** The format (`ST`), its version (`0001`) and the encoding (`2`: UTF-8). */
const HEAD = 'ST00012';

/** The lengths that the standard allows, in characters. */
const MAX = { name: 160, bank: 45, purpose: 210 } as const;

export function buildBankQr(fields: BankQrFields): string {
  const { name, account, bank, bik, correspondent, kopecks, purpose, inn, kpp } = fields;
  const pairs = [
    ['Name', clean(name, MAX.name)],
    ['PersonalAcc', account],
    ['BankName', clean(bank, MAX.bank)],
    ['BIC', bik],
    // The standard wants a zero for a bank without one.
    ['CorrespAcc', correspondent === '' ? '0' : correspondent],
    ['Sum', `${kopecks}`],
    ['Purpose', clean(purpose, MAX.purpose)],
    ['PayeeINN', inn],
    ...(kpp === '' ? [] : [['KPP', kpp]]),
  ];
  return [HEAD, ...pairs.map(([key, value]) => `${key}=${value}`)].join('|');
}

/** No value may contain the separator. */
function clean(text: string, max: number): string {
  return text.replaceAll('|', ' ').slice(0, max).trim();
}
