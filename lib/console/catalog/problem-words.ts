// Says in the page's language why a catalog does not load, as far as a form of a page usually leads there.
import { defineWords, type Language } from '../language.ts';

const WORDS = defineWords({
  en: {
    below: (model: string, price: string, cost: string) =>
      `${model}: the price of ${price} RUB is below the cost of ${cost} RUB. Raise it.`,
    belowOnList: (list: string, model: string, price: string, cost: string) =>
      `${model} on the price list ${list}: the price of ${price} RUB is below the cost of ${cost} RUB. Lower the discount, or raise the price of the model.`,
    rate: (currency: string) => `${currency} has no exchange rate: set it on the page of the catalog.`,
    taken: (name: string) => `The name ${name} is taken by another model.`,
    smart: (name: string) => `The name ${name} belongs to the smart model.`,
  },
  ru: {
    below: (model: string, price: string, cost: string) =>
      `${model}: цена ${withComma(price)} ₽ ниже закупки ${withComma(cost)} ₽. Поднимите её.`,
    belowOnList: (list: string, model: string, price: string, cost: string) =>
      `${model} в прайс-листе ${list}: цена ${withComma(price)} ₽ ниже закупки ${withComma(cost)} ₽. Уменьшите скидку или поднимите цену модели.`,
    rate: (currency: string) => `Курс ${currency} не задан: задайте его на странице каталога.`,
    taken: (name: string) => `Название ${name} уже занято другой моделью.`,
    smart: (name: string) => `Название ${name} принадлежит модели smart.`,
  },
});

const withComma = (amount: string) => amount.replace('.', ',');

type Words = (typeof WORDS)[Language];

const KNOWN: readonly (readonly [pattern: RegExp, say: (words: Words, parts: readonly string[]) => string])[] = [
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

/** A sentence for each mistake that is known; undefined if any is not. */
export function describeProblem(language: Language, problem: string): readonly string[] | undefined {
  const words = WORDS[language];
  const said = problem.split('; ').map((mistake) => {
    for (const [pattern, say] of KNOWN) {
      const found = pattern.exec(mistake);
      if (found) return say(words, found.slice(1));
    }
    return undefined;
  });
  return said.every((each) => each !== undefined) ? [...new Set(said)] : undefined;
}
