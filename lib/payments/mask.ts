// What people are shown of a provider's words: no card numbers, and nothing that charges a card or signs a request.
const HIDDEN = '…';
/** A name whose text is hidden, and whose fields are but for `SHOWN`. */
const PRIVATE = /method|card|saved|token|secret|password|authorization|cookie|signature/i;
const SHOWN: ReadonlySet<string> = new Set([
  ...['type', 'kind', 'brand', 'card_type', 'last4', 'expiry', 'expiry_month', 'expiry_year', 'status', 'title'],
]);
/** 13 to 19 digits, together or in groups as they are printed on a card. */
const CARD_NUMBER = /(?<![\w-])(?:\d[ -]?){12,18}\d(?![\w-])/g;

/** Card numbers but for their last four digits. */
export function maskNumbers(text: string): string {
  return text.replace(CARD_NUMBER, (found) => {
    const digits = found.replaceAll(/\D/g, '');
    return isCardNumber(digits) ? `${HIDDEN}${digits.slice(-4)}` : found;
  });
}

/** JSON in lines, or in one without indent; what is no JSON stays a text. */
export function maskJson(text: string, indent = 2): string {
  try {
    return maskNumbers(JSON.stringify(masked(JSON.parse(text), false), null, indent));
  } catch {
    return maskNumbers(text);
  }
}

function masked(value: unknown, isPrivate: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, isPrivate));
  if (typeof value !== 'object' || value === null) {
    return isPrivate && (typeof value === 'string' || typeof value === 'number') ? HIDDEN : value;
  }
  const fields = Object.entries(value).map(([name, field]) => {
    if (SHOWN.has(name) && typeof field !== 'object') return [name, field];
    return [name, masked(field, isPrivate || PRIVATE.test(name))];
  });
  return Object.fromEntries(fields);
}

/** By its check digit (Luhn). */
function isCardNumber(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
