// Numbers of Russian companies and bank accounts, each with its check digits.

/** The tax number (ИНН): 10 digits of a company, 12 of a sole proprietor. */
export function isInn(text: string): boolean {
  if (/^\d{10}$/.test(text)) return text[9] === checkDigit(text, [2, 4, 10, 3, 5, 9, 4, 6, 8]);
  if (!/^\d{12}$/.test(text)) return false;
  const [eleventh, twelfth] = [
    [7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
    [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8],
  ] as const;
  return text[10] === checkDigit(text, eleventh) && text[11] === checkDigit(text, twelfth);
}

function checkDigit(text: string, weights: readonly number[]): string {
  return String((sumWeighted(text, weights) % 11) % 10);
}

function sumWeighted(text: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * Number(text[at]), 0);
}

/** Whether the tax number is one of a sole proprietor, who has no КПП. */
export function isProprietor(inn: string): boolean {
  return inn.length === 12;
}

/** The code of the reason of registration (КПП); it has no check digit. */
export function isKpp(text: string): boolean {
  return /^\d{4}[\dA-Z]{2}\d{3}$/.test(text);
}

/** The state number: ОГРН of a company (13 digits), ОГРНИП of a sole proprietor (15). */
export function isOgrn(text: string): boolean {
  if (!/^[1-9]\d{12}(\d{2})?$/.test(text)) return false;
  const [digits, check] = [text.slice(0, -1), text.at(-1)];
  return check === String((BigInt(digits) % BigInt(digits.length - 1)) % 10n);
}

export function isBik(text: string): boolean {
  return /^04\d{7}$|^[012]\d{8}$/.test(text);
}

/** A settlement account of a client of a bank: its check digit depends on the bank. */
export function isBankAccount(text: string, bik: string): boolean {
  return hasAccountCheck(text, bik.slice(-3));
}

/** The correspondent account of a bank at the Bank of Russia. */
export function isCorrespondentAccount(text: string, bik: string): boolean {
  return hasAccountCheck(text, `0${bik.slice(4, 6)}`);
}

function hasAccountCheck(account: string, bank: string): boolean {
  if (!/^\d{20}$/.test(account)) return false;
  const weights = [7, 1, 3];
  const digits = [...`${bank}${account}`].map((digit, at) => (Number(digit) * (weights[at % 3] as number)) % 10);
  return digits.reduce((sum, digit) => sum + digit, 0) % 10 === 0;
}
