// A sum in Russian words, as papers repeat it: «Одна тысяча рублей 50 копеек».

type Forms = readonly [one: string, few: string, many: string];

const UNITS_MALE = ['', 'один', 'два', 'три', 'четыре', 'пять', 'шесть', 'семь', 'восемь', 'девять'];
const UNITS_FEMALE = ['', 'одна', 'две', ...UNITS_MALE.slice(3)];
const TEENS = [
  'десять',
  'одиннадцать',
  'двенадцать',
  'тринадцать',
  'четырнадцать',
  'пятнадцать',
  'шестнадцать',
  'семнадцать',
  'восемнадцать',
  'девятнадцать',
];
const TENS = [
  '',
  '',
  'двадцать',
  'тридцать',
  'сорок',
  'пятьдесят',
  'шестьдесят',
  'семьдесят',
  'восемьдесят',
  'девяносто',
];
const HUNDREDS = [
  '',
  'сто',
  'двести',
  'триста',
  'четыреста',
  'пятьсот',
  'шестьсот',
  'семьсот',
  'восемьсот',
  'девятьсот',
];

const ROUBLES: Forms = ['рубль', 'рубля', 'рублей'];
const KOPECKS: Forms = ['копейка', 'копейки', 'копеек'];
/** From the thousands up. */
const GROUPS: readonly Forms[] = [
  ['тысяча', 'тысячи', 'тысяч'],
  ['миллион', 'миллиона', 'миллионов'],
  ['миллиард', 'миллиарда', 'миллиардов'],
  ['триллион', 'триллиона', 'триллионов'],
];

/** Of a sum in kopecks that is not negative; kopecks stay digits. */
export function spellKopecks(kopecks: bigint): string {
  const [roubles, rest] = [kopecks / 100n, Number(kopecks % 100n)];
  const words = [...spellNumber(roubles), chooseForm(Number(roubles % 100n), ROUBLES)].join(' ');
  const capital = words.charAt(0).toUpperCase() + words.slice(1);
  return `${capital} ${String(rest).padStart(2, '0')} ${chooseForm(rest, KOPECKS)}`;
}

function spellNumber(number: bigint): readonly string[] {
  if (number === 0n) return ['ноль'];
  const words: string[] = [];
  for (let at = 0, left = number; left > 0n; at += 1, left /= 1000n) {
    const group = Number(left % 1000n);
    if (group === 0) continue;
    const name = at === 0 ? [] : [chooseForm(group % 100, GROUPS[at - 1] as Forms)];
    words.unshift(...spellGroup(group, at === 1 ? UNITS_FEMALE : UNITS_MALE), ...name);
  }
  return words;
}

function spellGroup(group: number, units: readonly string[]): readonly string[] {
  const [hundreds, rest] = [Math.trunc(group / 100), group % 100];
  const low = rest >= 10 && rest < 20 ? [TEENS[rest - 10]] : [TENS[Math.trunc(rest / 10)], units[rest % 10]];
  return [HUNDREDS[hundreds], ...low].filter((word) => word !== undefined && word !== '') as string[];
}

function chooseForm(number: number, [one, few, many]: Forms): string {
  const [tens, units] = [Math.trunc(number / 10) % 10, number % 10];
  if (tens === 1) return many;
  if (units === 1) return one;
  return units >= 2 && units <= 4 ? few : many;
}
