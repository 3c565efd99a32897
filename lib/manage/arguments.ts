// Reads what operators write: amounts, times and short texts, with one-line errors.
import { isOneLine, isReadableId } from '../base/one-line.ts';
import { InvalidInputError } from '../base/operator-error.ts';
import { AMOUNT_MAX, formatRub, type Micro, parseRub } from '../money/money.ts';
import type { ChargeFilter } from '../store/ports/ledger.ts';

const TEXT_LENGTH_MAX = 200;
/** What decoders put in place of what they cannot read. */
const UNREADABLE = '\ufffd';

/** An amount above zero. */
export function readPayment(text: string): Micro {
  const amount = readAmount(text);
  if (amount < 0n) throw new InvalidInputError('The amount must be above zero.');
  return amount;
}

/** An amount of either sign. */
export function readAmount(text: string): Micro {
  const match = /^-?\d+(?:\.(\d+))?$/.exec(text);
  if (!match) throw new InvalidInputError('An amount is plain digits, such as 1000 or 12.50.');
  if ((match[1] ?? '').length > 6) throw new InvalidInputError('An amount has at most 6 decimals.');
  const amount = parseRub(text);
  if (amount === undefined || amount > AMOUNT_MAX || amount < -AMOUNT_MAX) {
    throw new InvalidInputError(`The largest amount is ${formatRub(AMOUNT_MAX)} RUB.`);
  }
  if (amount === 0n) throw new InvalidInputError('The amount is zero.');
  return amount;
}

/** A short line of text, such as a name or a reason. */
export function readText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidInputError('It is empty.');
  if (trimmed.length > TEXT_LENGTH_MAX) throw new InvalidInputError(`It has more than ${TEXT_LENGTH_MAX} characters.`);
  if (!isOneLine(trimmed)) throw new InvalidInputError('It contains control characters, or nothing that can be seen.');
  // A cut emoji, or bytes of another encoding: all of them are one sign, so that two ids of payments would be one id.
  if (trimmed.toWellFormed().includes(UNREADABLE))
    throw new InvalidInputError('It contains a character that could not be read, such as a cut emoji.');
  return trimmed;
}

/** An id that somebody else gave, such as that of a payment: a repeat is known by it. */
export function readId(text: string): string {
  const id = readText(text);
  if (!isReadableId(id))
    throw new InvalidInputError('It contains an invisible character: type the id, do not copy it.');
  return id;
}

/** A day, which starts at midnight UTC, or a time with its zone; ms since the epoch. */
export function readTime(text: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isDay || isMoment ? Date.parse(text) : Number.NaN;
  // Date.parse takes 30 February for 2 March.
  const day = text.slice(0, 10);
  if (Number.isNaN(time) || !new Date(Date.parse(day)).toISOString().startsWith(day)) {
    throw new InvalidInputError('Give a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.');
  }
  return time;
}

/** A whole number from 1 up. */
export function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new InvalidInputError('It must be a whole number of at least 1.');
  }
  return count;
}

/** Throws if the span is empty. */
export function checkSpan({ from, to }: ChargeFilter): void {
  if (from === undefined || to === undefined || from < to) return;
  throw new InvalidInputError('--to must be later than --from; it is not itself included.');
}

/** As long as the name of a model, in whose place it stands. */
const REASON_LENGTH_MAX = 100;

export function readReason(text: string): string {
  const reason = readText(text);
  if (reason.length > REASON_LENGTH_MAX)
    throw new InvalidInputError(`It has more than ${REASON_LENGTH_MAX} characters.`);
  return reason;
}
