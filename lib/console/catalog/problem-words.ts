// Says in the page's language why a catalog does not load, as far as a form of a page usually leads there, and what it warns of.
import { defineWords, type Language } from '../language.ts';

const WORDS = defineWords({
  en: {
    below: (model: string, price: string, cost: string) =>
      `${model}: the price of ${price} RUB is below the cost of ${cost} RUB. Raise it.`,
    belowOnList: (list: string, model: string, price: string, cost: string) =>
      `${model} on the price list ${list}: the price of ${price} RUB is below the cost of ${cost} RUB. Lower the discount, or raise the price of the model.`,
    kept: (model: string, price: string, cost: string) =>
      `${model}: the price of ${price} RUB stays as it was, below the cost of ${cost} RUB. Raise it.`,
    keptOnList: (list: string, model: string, price: string, cost: string) =>
      `${model} on the price list ${list}: the price of ${price} RUB stays as it was, below the cost of ${cost} RUB. Lower the discount, or raise the price of the model.`,
    notReal: (payments: string, upstream: string) =>
      `Payments by ${payments} are off: their money is not real, and the upstream ${upstream} costs real money.`,
    unset: (payments: string, variables: string) => `Payments by ${payments} are off: not set or empty: ${variables}.`,
    rate: (currency: string) => `${currency} has no exchange rate: set it on the page of the catalog.`,
    taken: (name: string) => `The name ${name} is taken by another model.`,
    smart: (name: string) => `The name ${name} belongs to the smart model.`,
  },
  ru: {
    below: (model: string, price: string, cost: string) =>
      `${model}: цена ${withComma(price)} ₽ ниже закупки ${withComma(cost)} ₽. Поднимите её.`,
    belowOnList: (list: string, model: string, price: string, cost: string) =>
      `${model} в прайс-листе ${list}: цена ${withComma(price)} ₽ ниже закупки ${withComma(cost)} ₽. Уменьшите скидку или поднимите цену модели.`,
    kept: (model: string, price: string, cost: string) =>
      `${model}: цена ${withComma(price)} ₽ осталась прежней, она ниже закупки ${withComma(cost)} ₽. Поднимите её.`,
    keptOnList: (list: string, model: string, price: string, cost: string) =>
      `${model} в прайс-листе ${list}: цена ${withComma(price)} ₽ осталась прежней, она ниже закупки ${withComma(cost)} ₽. Уменьшите скидку или поднимите цену модели.`,
    notReal: (payments: string, upstream: string) =>
      `Платёжная система ${payments} отключена: её деньги ненастоящие, а провайдер ${upstream} платный.`,
    unset: (payments: string, variables: string) =>
      `Платёжная система ${payments} отключена: не заданы переменные ${variables}.`,
    rate: (currency: string) => `Курс ${currency} не задан: задайте его на странице каталога.`,
    taken: (name: string) => `Название ${name} уже занято другой моделью.`,
    smart: (name: string) => `Название ${name} принадлежит модели smart.`,
  },
});

const withComma = (amount: string) => amount.replace('.', ',');

type Words = (typeof WORDS)[Language];

type Known = readonly (readonly [pattern: RegExp, say: (words: Words, parts: readonly string[]) => string])[];

const KNOWN: Known = [
  [
    /priceLists\.(\S+): model (\S+): price\.\S+ is (\S+) RUB, below the cost [^;]*, (\S+) RUB/,
    ({ belowOnList }, [list = '', model = '', price = '', cost = '']) => belowOnList(list, model, price, cost),
  ],
  [
    /model (\S+): price\.\S+ is (\S+) RUB, below the cost [^;]*, (\S+) RUB/,
    ({ below }, [model = '', price = '', cost = '']) => below(model, price, cost),
  ],
  [/cost: ([A-Z]{3}) has no rate/, ({ rate }, [currency = '']) => rate(currency)],
  [/the name (.+) is used twice$/, ({ taken }, [name = '']) => taken(name)],
  [/the name (.+) belongs to the smart model$/, ({ smart }, [name = '']) => smart(name)],
];

const KNOWN_WARNINGS: Known = [
  [
    /^model (\S+) in priceLists\.(\S+): the price stays as it was: price\.\S+ is (\S+) RUB, below the cost .*, (\S+) RUB$/,
    ({ keptOnList }, [model = '', list = '', price = '', cost = '']) => keptOnList(list, model, price, cost),
  ],
  [
    /^model (\S+): the price stays as it was: price\.\S+ is (\S+) RUB, below the cost .*, (\S+) RUB$/,
    ({ kept }, [model = '', price = '', cost = '']) => kept(model, price, cost),
  ],
  [
    /^payments\.(\S+) is off: its money is not real, and the upstream (\S+) costs real money$/,
    ({ notReal }, [payments = '', upstream = '']) => notReal(payments, upstream),
  ],
  [
    /^payments\.(\S+) is off: not set or empty: (.+)$/,
    ({ unset }, [payments = '', variables = '']) => unset(payments, variables),
  ],
];

function findSentence(known: Known, words: Words, text: string): string | undefined {
  for (const [pattern, say] of known) {
    const found = pattern.exec(text);
    if (found) return say(words, found.slice(1));
  }
  return undefined;
}

/** A warning of the catalog that loaded; as the catalog writes it if it is a rarer one. */
export function describeWarning(language: Language, warning: string): string {
  return findSentence(KNOWN_WARNINGS, WORDS[language], warning) ?? warning;
}

/** A sentence for each mistake that is known; undefined if any is not. */
export function describeProblem(language: Language, problem: string): readonly string[] | undefined {
  const words = WORDS[language];
  const said = problem.split('; ').map((mistake) => findSentence(KNOWN, words, mistake));
  return said.every((each) => each !== undefined) ? [...new Set(said)] : undefined;
}
