// The languages of the pages: which one a request gets, and how it formats numbers, money and times.
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import { absMicro, formatRub, type Micro } from '../money/money.ts';

export const LANGUAGES = ['en', 'ru'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Each in its own language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', ru: 'Русский' };

/** The texts of a page in every language; the English ones define the shape. */
type Words<Shape> = { readonly [Name in Language]: Shape };

/** A word that only one language has, or that one lacks, is a mistake of types. */
export function defineWords<Shape>(words: { readonly en: Shape } & Words<NoInfer<Shape>>): Words<Shape> {
  return words;
}

/** Looks up a name that comes from outside, such as a query. */
export function findWord(words: Readonly<Record<string, string>>, name: string | null): string | undefined {
  return name !== null && Object.hasOwn(words, name) ? words[name] : undefined;
}

export function isLanguage(text: string | undefined): text is Language {
  return LANGUAGES.some((language) => language === text);
}

/** The chosen language, or the browser's first supported one. */
export function chooseLanguage(chosen: string | undefined, accepted: string | undefined): Language {
  if (isLanguage(chosen)) return chosen;
  const preferred = (accepted ?? '')
    .slice(0, 200)
    .split(',')
    .map((part) => part.trim().slice(0, 2).toLowerCase());
  return preferred.find(isLanguage) ?? 'en';
}

export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', ru: 'ru-RU' };

/** Formatting for one language and time zone. */
export interface Format {
  /** Kopecks, for lists. */
  rub(micro: Micro): string;
  /** Every digit, for receipts. */
  rubExact(micro: Micro): string;
  /** A change of a wallet in kopecks, with its sign. */
  rubChange(micro: Micro): string;
  /** For a column of changes: signed, all with the same number of decimals; a dash for zero. */
  rubChanges(micros: readonly Micro[]): readonly string[];
  /** A sum as it is typed into a form. */
  rubTyped(micro: Micro): string;
  /** A decimal of the catalog, such as `0.25`, as it is typed into a form. */
  decimalTyped(decimal: string): string;
  number(value: number): string;
  /** Of a share from 0 to 1. */
  percent(share: number): string;
  /** A sum in roubles for the axis of a chart. */
  rubAxis(rub: number): string;
  /** Signed, with at most one decimal: a difference of −10 %. */
  percentChange(value: number): string;
  date(at: number): string;
  time(at: number): string;
  /** Hours, minutes and seconds. */
  clock(at: number): string;
  /** For lists: hours and minutes if it is on the same day as `now`, with the day of the year before. */
  moment(at: number, now: number): string;
  /** How long ago, in the largest whole unit up to days: “2 minutes ago”. */
  ago(elapsedMs: number): string;
  /** The plural form: `one`, `few`, `many` or `other`. */
  plural(value: number): Intl.LDMLPluralRule;
}

/** Of a sum that did not change. */
export const NO_CHANGE = '—';

const formats = new Map<string, Format>();

export function getFormat(language: Language, timeZone: string): Format {
  const name = `${language} ${timeZone}`;
  const known = formats.get(name);
  if (known) return known;
  const format = createFormat(language, timeZone);
  // Bounded, because visitors choose the time zone.
  if (formats.size >= FORMATS_MAX) formats.clear();
  formats.set(name, format);
  return format;
}

/** More than there are time zones, about 400. */
const FORMATS_MAX = 1000;

function createFormat(language: Language, timeZone: string): Format {
  const locale = LOCALES[language];
  const money = (from: number, to: number, more: object = {}) => {
    const style = { style: 'currency', currency: 'RUB', currencyDisplay: 'narrowSymbol' } as const;
    const digits = { minimumFractionDigits: from, maximumFractionDigits: to };
    const formatter = new Intl.NumberFormat(locale, { ...style, ...digits, ...more });
    return (micro: Micro) => formatter.format(toDecimal(micro)).replace('-', MINUS);
  };
  const cents = money(CENT_DIGITS, CENT_DIGITS);
  const exact = money(CENT_DIGITS, MICRO_DIGITS);
  const centChange = money(CENT_DIGITS, CENT_DIGITS, { signDisplay: 'always' });
  const numbers = new Intl.NumberFormat(locale);
  const percents = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  });
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const axis = { style: 'currency', currency: 'RUB', currencyDisplay: 'narrowSymbol' } as const;
  const round = new Intl.NumberFormat(locale, { ...axis, maximumFractionDigits: 0 });
  const few = new Intl.NumberFormat(locale, { ...axis, minimumFractionDigits: 0, maximumFractionDigits: 3 });
  const dates = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium' });
  const times = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium', timeStyle: 'medium' });
  const clocks = new Intl.DateTimeFormat(locale, { timeZone, timeStyle: 'medium' });
  const time = { hour: '2-digit', minute: '2-digit' } as const;
  const day = { day: 'numeric', month: 'short' } as const;
  const days = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'short' });
  const years = new Intl.DateTimeFormat(locale, { timeZone, year: 'numeric' });
  const minutes = new Intl.DateTimeFormat(locale, { timeZone, ...time });
  const moments = new Intl.DateTimeFormat(locale, { timeZone, ...day, ...time });
  const oldMoments = new Intl.DateTimeFormat(locale, { timeZone, year: 'numeric', ...day, ...time });
  const relative = new Intl.RelativeTimeFormat(locale);
  const plurals = new Intl.PluralRules(locale);
  const point = numbers.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';
  return {
    rub: cents,
    rubExact: exact,
    rubChange: (micro) => (micro === 0n ? NO_CHANGE : centChange(micro)),
    rubChanges(micros) {
      const digits = Math.max(...micros.map(countDecimals), CENT_DIGITS);
      const change = money(digits, digits, { signDisplay: 'always' });
      return micros.map((micro) => (micro === 0n ? NO_CHANGE : change(micro)));
    },
    rubTyped: (micro) => formatRub(micro).replace('.', point),
    decimalTyped: (decimal) => decimal.replace('.', point),
    number: (value) => numbers.format(value),
    percent: (share) => shares.format(share).replace('-', MINUS),
    rubAxis: (rub) => (rub >= 10 || rub === 0 ? round : few).format(rub),
    percentChange: (value) => percents.format(value / 100).replace('-', MINUS),
    date: (at) => keepTogether(dates.format(at)),
    time: (at) => keepTogether(times.format(at)),
    clock: (at) => clocks.format(at),
    moment(at, now) {
      if (days.format(at) === days.format(now)) return minutes.format(at);
      return keepTogether((years.format(at) === years.format(now) ? moments : oldMoments).format(at));
    },
    ago(elapsedMs) {
      const [unit, ms] = AGO_UNITS.find(([, ms]) => elapsedMs >= ms) ?? (['second', 1000] as const);
      return relative.format(-Math.max(0, Math.floor(elapsedMs / ms)), unit);
    },
    plural: (value) => plurals.select(value),
  };
}

/** A day by itself, such as `2026-11-26`, whatever its zone. */
export function formatPageDate(language: Language, day: string): string {
  const format = new Intl.DateTimeFormat(LOCALES[language], { timeZone: 'UTC', dateStyle: 'medium' });
  return keepTogether(format.format(Date.parse(day)));
}

const AGO_UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', 60_000],
] as const;

/** Allows a line break only between date and time. */
export function keepTogether(text: string): string {
  return text.replaceAll(/(?<!,) /g, '\u00a0');
}

const CENT_DIGITS = 2;
const MICRO_DIGITS = 6;
/** As wide as a plus sign. */
const MINUS = '\u2212';

function countDecimals(micro: Micro): number {
  return formatRub(micro).split('.')[1]?.length ?? 0;
}

/** From a decimal string: money is never a double. */
function toDecimal(micro: Micro): Intl.StringNumericLiteral {
  const digits = `${absMicro(micro)}`.padStart(MICRO_DIGITS + 1, '0');
  const text = `${micro < 0n ? '-' : ''}${digits.slice(0, -MICRO_DIGITS)}.${digits.slice(-MICRO_DIGITS)}`;
  return text as Intl.StringNumericLiteral;
}

const NEAR =
  /^(?:Europe\/(?:Moscow|Kaliningrad|Samara|Saratov|Ulyanovsk|Volgograd|Astrakhan|Minsk)|Asia\/(?:Yekaterinburg|Omsk|Novosibirsk|Krasnoyarsk|Irkutsk|Yakutsk|Vladivostok|Magadan|Kamchatka|Almaty|Tashkent|Tbilisi|Yerevan|Baku))$/;

/** Names of time zones, those near to most visitors first. */
export function listZones(): readonly string[] {
  const all = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  return [...all.filter((zone) => NEAR.test(zone)), ...all.filter((zone) => !NEAR.test(zone))];
}

export function isTimeZone(text: string): boolean {
  try {
    return text.length <= 64 && new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}
