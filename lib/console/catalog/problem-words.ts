// Says in the page's language why a catalog does not load, as far as a form of a page usually leads there, and what it warns of.
import { writeAmount } from '../../money/written-amount.ts';
import { defineWords, type Language } from '../language.ts';

const WORDS = defineWords({
  en: {
    members: {
      input: 'input',
      output: 'output',
      audio: 'audio',
      cacheRead: 'read from cache',
      cacheWrite: 'written to cache for 5 min',
      cacheWrite1h: 'written to cache for 1 h',
    },
    above: (tokens: string) => ` of prompts longer than ${tokens} tokens`,
    below: (what: string, price: string, cost: string) =>
      `${what}: the price of ${price} RUB is below the cost of ${cost} RUB. Raise it.`,
    belowOnList: (list: string, what: string, price: string, cost: string) =>
      `${what}, on the price list ${list}: the price of ${price} RUB is below the cost of ${cost} RUB. Lower the discount, or raise the price of the model.`,
    kept: (what: string, price: string, cost: string) =>
      `${what}: the price of ${price} RUB stays as it was, below the cost of ${cost} RUB. Raise it.`,
    keptOnList: (list: string, what: string, price: string, cost: string) =>
      `${what}, on the price list ${list}: the price of ${price} RUB stays as it was, below the cost of ${cost} RUB. Lower the discount, or raise the price of the model.`,
    images: (model: string) =>
      ` This is the cost of ${model}, which answers calls with images in its place. You can allow that on the page of the model, if it was added on pages and not in a file.`,
    notReal: (payments: string, upstream: string) =>
      `Payments by ${payments} are off: their money is not real, and the upstream ${upstream} costs real money.`,
    unset: (payments: string, variables: string) => `Payments by ${payments} are off: not set or empty: ${variables}.`,
    smartTier: (tier: string, model: string) =>
      `No model of the ${tier} tier of smart is available now; ${model} answers instead.`,
    rate: (currency: string) => `${currency} has no exchange rate: set it on the page of the catalog.`,
    taken: (name: string) =>
      `The name ${name} is taken by another model, perhaps one that is not available now. Choose another name.`,
    smart: (name: string) => `The name ${name} belongs to the smart model.`,
  },
  ru: {
    members: {
      input: 'вход',
      output: 'выход',
      audio: 'аудио',
      cacheRead: 'чтение из кэша',
      cacheWrite: 'запись в кэш на 5\u00a0мин',
      cacheWrite1h: 'запись в кэш на 1\u00a0ч',
    },
    above: (tokens: string) => ` для запросов длиннее ${tokens} токенов`,
    below: (what: string, price: string, cost: string) =>
      `${what}: цена ${inRussian(price)}\u00a0₽ ниже закупочной (${inRussian(cost)}\u00a0₽). Поднимите её.`,
    belowOnList: (list: string, what: string, price: string, cost: string) =>
      `${what}, в прайс-листе ${list}: цена ${inRussian(price)}\u00a0₽ ниже закупочной (${inRussian(cost)}\u00a0₽). Уменьшите скидку или поднимите цену модели.`,
    kept: (what: string, price: string, cost: string) =>
      `${what}: цена ${inRussian(price)}\u00a0₽ осталась прежней, она ниже закупочной (${inRussian(cost)}\u00a0₽). Поднимите её.`,
    keptOnList: (list: string, what: string, price: string, cost: string) =>
      `${what}, в прайс-листе ${list}: цена ${inRussian(price)}\u00a0₽ осталась прежней, она ниже закупочной (${inRussian(cost)}\u00a0₽). Уменьшите скидку или поднимите цену модели.`,
    images: (model: string) =>
      ` Это закупочная цена модели ${model}, которая отвечает вместо неё на запросы с картинками. Это можно разрешить на странице модели, если модель добавлена на страницах, а не в файле.`,
    notReal: (payments: string, upstream: string) =>
      `Платёжная система ${payments} отключена: её деньги ненастоящие, а провайдер ${upstream} платный.`,
    unset: (payments: string, variables: string) =>
      `Платёжная система ${payments} отключена: не заданы переменные ${variables}.`,
    smartTier: (tier: string, model: string) =>
      `Ни одна модель smart уровня ${tier} сейчас не доступна, вместо неё отвечает ${model}.`,
    rate: (currency: string) => `Курс ${currency} не задан: задайте его на странице каталога.`,
    taken: (name: string) => `Название ${name} занято другой моделью, возможно недоступной сейчас. Выберите другое.`,
    smart: (name: string) => `Название ${name} принадлежит модели smart.`,
  },
});

const inRussian = (amount: string) => writeAmount(amount, 'ru');

type Words = (typeof WORDS)[Language];

type Parts = Readonly<Record<string, string | undefined>>;

type Known = readonly (readonly [pattern: RegExp, say: (words: Words, parts: Parts) => string])[];

/** A price below cost, as the catalog writes it. */
const LOSS = [
  String.raw`price\.(?<member>\w+)(?: above (?<above>\d+) tokens| at (?<label>[^ ,]+))?(?:, \d+ seconds)? is (?<price>\S+) RUB`,
  String.raw`, below the cost (?:of an answer to images by (?<vision>.+?) )?over [^;]*, (?<cost>\S+) RUB`,
].join('');

function describeLoss(words: Words, say: 'below' | 'kept', parts: Parts): string {
  const { model = '', list, member = '', above, label, price = '', cost = '', vision } = parts;
  const known = Object.hasOwn(words.members, member) ? words.members[member as keyof Words['members']] : label;
  const which = known === undefined ? '' : `, ${known}`;
  const what = `${model}${which}${above === undefined ? '' : words.above(above)}`;
  const onList = say === 'below' ? words.belowOnList : words.keptOnList;
  const said = list === undefined ? words[say](what, price, cost) : onList(list, what, price, cost);
  return vision === undefined ? said : `${said}${words.images(vision)}`;
}

const KNOWN: Known = [
  [
    new RegExp(String.raw`priceLists\.(?<list>\S+): model (?<model>\S+): ${LOSS}`),
    (words, parts) => describeLoss(words, 'below', parts),
  ],
  [new RegExp(String.raw`model (?<model>\S+): ${LOSS}`), (words, parts) => describeLoss(words, 'below', parts)],
  [/cost: (?<currency>[A-Z]{3}) has no rate/, ({ rate }, { currency = '' }) => rate(currency)],
  [/the name (?<name>.+) is used twice$/, ({ taken }, { name = '' }) => taken(name)],
  [/the name (?<name>.+) belongs to the smart model$/, ({ smart }, { name = '' }) => smart(name)],
];

const KNOWN_WARNINGS: Known = [
  [
    new RegExp(String.raw`^model (?<model>\S+)(?: in priceLists\.(?<list>\S+))?: the price stays as it was: ${LOSS}$`),
    (words, parts) => describeLoss(words, 'kept', parts),
  ],
  [
    /^payments\.(?<payments>\S+) is off: its money is not real, and the upstream (?<upstream>\S+) costs real money$/,
    ({ notReal }, { payments = '', upstream = '' }) => notReal(payments, upstream),
  ],
  [
    /^payments\.(?<payments>\S+) is off: not set or empty: (?<variables>.+)$/,
    ({ unset }, { payments = '', variables = '' }) => unset(payments, variables),
  ],
  [
    /^smart\.(?<tier>\w+): none of its models has a route; (?<model>.+) answers instead$/,
    ({ smartTier }, { tier = '', model = '' }) => smartTier(tier, model),
  ],
];

function findSentence(known: Known, words: Words, text: string): string | undefined {
  for (const [pattern, say] of known) {
    const found = pattern.exec(text);
    if (found) return say(words, found.groups ?? {});
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
