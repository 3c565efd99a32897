// Masks a provider's texts before people see them: no card numbers, and nothing that charges a card or signs a request.
const HIDDEN = '…';
/** Names of fields whose value is hidden; inside such an object, `SHOWN_FIELDS` stay visible. */
const PRIVATE_NAME = /method|card|saved|token|secret|password|authorization|cookie|signature/i;
const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'kind',
  'brand',
  'card_type',
  'last4',
  'expiry',
  'expiry_month',
  'expiry_year',
  'status',
  'title',
]);
/** 13 to 19 digits, with or without spaces and hyphens as printed on a card. */
const CARD_NUMBER = /(?<![\w-])(?:\d[ -]?){12,18}\d(?![\w-])/g;

/** Hides card numbers except for their last four digits. */
export function maskNumbers(text: string): string {
  return text.replace(CARD_NUMBER, (found) => {
    const digits = found.replaceAll(/\D/g, '');
    return isCardNumber(digits) ? `${HIDDEN}${digits.slice(-4)}` : found;
  });
}

/** Masks and indents JSON; other text only loses its card numbers. */
export function maskJson(text: string, indent = 2): string {
  try {
    return maskNumbers(JSON.stringify(maskValue(JSON.parse(text), false), null, indent));
  } catch {
    return maskNumbers(text);
  }
}

function maskValue(value: unknown, isPrivate: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => maskValue(each, isPrivate));
  if (typeof value !== 'object' || value === null) {
    return isPrivate && (typeof value === 'string' || typeof value === 'number') ? HIDDEN : value;
  }
  const fields = Object.entries(value).map(([name, field]) => {
    if (SHOWN_FIELDS.has(name) && typeof field !== 'object') return [name, field];
    return [name, maskValue(field, isPrivate || PRIVATE_NAME.test(name))];
  });
  return Object.fromEntries(fields);
}

/** Checks the Luhn digit. */
function isCardNumber(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
