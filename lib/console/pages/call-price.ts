// The calculation of a call's price to the last digit: usage times price, and what an account's own prices changed.
import type { Charge, Usage } from '../../money/decide.ts';
import { compareWithList, computeDifference } from '../../money/list-price.ts';
import { TEXT_MINIMUM } from '../../money/price.ts';
import { itemizeTokens } from '../../money/token-receipt.ts';
import { MOVED_NAME } from '../../money/token-usage.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { OwnerVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    resolution: 'Resolution',
    charged: 'Charged',
    sum: 'Price calculation',
    tokens: {
      input: 'Input tokens',
      audio: 'Audio tokens',
      cacheRead: 'Read from the cache',
      cacheWrite: 'Written to the cache for 5 minutes',
      cacheWrite1h: 'Written to the cache for 1 hour',
      output: 'Output tokens',
    },
    reasoning: (count: string) => `of which reasoning: ${count}`,
    band: (count: string) => `Prices for prompts longer than ${count} tokens`,
    saved: (amount: string) => `Caching saved ${amount} compared with the input price`,
    dearer: (amount: string) => `Caching cost ${amount} more than the input price`,
    moved: (count: string) =>
      `${count} tokens count as read from the cache although they were written anew: the service had moved the conversation`,
    perMillion: 'per 1M tokens',
    images: 'Images',
    seconds: 'Seconds',
    calls: 'Calls',
    together: 'Total',
    listPrice: (list: string, yours: string, change: string) => `List price: ${list}, yours: ${yours}${change}`,
    minimum: (least: string) => `A total below ${least} is charged as ${least}. The total is rounded once, half up.`,
  },
  ru: {
    resolution: 'Разрешение',
    charged: 'Списано',
    sum: 'Расчёт цены',
    tokens: {
      input: 'Входные токены',
      audio: 'Токены аудио',
      cacheRead: 'Прочитано из кэша',
      cacheWrite: 'Записано в кэш на 5 минут',
      cacheWrite1h: 'Записано в кэш на 1 час',
      output: 'Выходные токены',
    },
    reasoning: (count: string) => `из них рассуждения: ${count}`,
    band: (count: string) => `Цены для запросов длиннее ${count} токенов`,
    saved: (amount: string) => `Кэш сэкономил ${amount} по сравнению с ценой входных токенов`,
    dearer: (amount: string) => `С кэшем вышло на ${amount} дороже, чем по цене входных токенов`,
    moved: (count: string) =>
      `Токены, записанные в кэш заново, но посчитанные как прочитанные: ${count}. Разговор перенёс сам сервис`,
    perMillion: 'за 1\u00a0млн токенов',
    images: 'Картинки',
    seconds: 'Секунды',
    calls: 'Запросы',
    together: 'Итого',
    listPrice: (list: string, yours: string, change: string) => `Обычная цена: ${list}, ваша: ${yours}${change}`,
    minimum: (least: string) =>
      `Сумма меньше ${least} списывается как ${least}. Итог округляется один раз, по правилам арифметики.`,
  },
});

/** What a text depends on, of a page of an owner or an operator. */
type Shown = Pick<OwnerVisit, 'language' | 'format'>;

/** Usage times price, and the total. */
export function priceCalculation(visit: Shown, charge: Charge): Html | undefined {
  if (charge.usage === null) return undefined;
  const words = WORDS[visit.language];
  const { format } = visit;
  const usage = parseUsage(charge);
  const isByToken = charge.kind === 'text' || charge.kind === 'embedding';
  const lines = isByToken ? tokenLines(visit, charge) : mediaLines(visit, charge, usage);
  const isTotal = itemizeTokens(charge)?.total === charge.charged;
  return html`<h2>${words.sum}</h2>
<ul>${lines.map((line) => html`<li>${line}</li>`)}${!isTotal && html`<li><strong>${words.charged}: ${format.rubExact(charge.charged)}</strong></li>`}</ul>
${listPriceLine(visit, charge)}
${isByToken && html`<p class="hint">${words.minimum(format.rub(TEXT_MINIMUM))}</p>`}`;
}

/** What the account's own prices changed; undefined if it has none, or if nothing was charged. */
function listPriceLine({ language, format }: Shown, charge: Charge): Html | undefined {
  const list = compareWithList(charge)?.amount;
  if (list === undefined) return undefined;
  const percent = computeDifference(list, charge.charged);
  const change = percent === undefined || percent === 0 ? '' : `, ${format.percentChange(percent)}`;
  return html`<p>${WORDS[language].listPrice(format.rubExact(list), format.rubExact(charge.charged), change)}</p>`;
}

/** A line for each kind of token, then the total, and what the cache has changed about it. */
function tokenLines({ language, format }: Shown, charge: Charge): readonly string[] {
  const words = WORDS[language];
  const receipt = itemizeTokens(charge);
  if (!receipt) return [];
  const { lines, reasoning, above, total, saved } = receipt;
  const { [MOVED_NAME]: moved } = parseUsage(charge);
  const thoughts = reasoning > 0 ? ` (${words.reasoning(format.number(reasoning))})` : '';
  const isPaid = charge.charged > 0n;
  return [
    ...(above === undefined ? [] : [words.band(format.number(above))]),
    ...lines.map(({ kind, count, rate, cost }) => {
      const name = `${words.tokens[kind]}${kind === 'output' ? thoughts : ''}`;
      const factors = `${format.number(count)} × ${format.rubExact(rate)} ${words.perMillion}`;
      return `${name}: ${factors} = ${format.rubExact(cost)}`;
    }),
    ...(typeof moved === 'number' ? [words.moved(format.number(moved))] : []),
    `${words.together}: ${format.rubExact(total)}`,
    ...(isPaid && saved > 0n ? [words.saved(format.rubExact(saved))] : []),
    ...(isPaid && saved < 0n ? [words.dearer(format.rubExact(-saved))] : []),
  ];
}

/** Images, seconds or whole calls; for videos also the resolution, which may have its own price. */
function mediaLines({ language, format }: Shown, charge: Charge, usage: Usage): readonly string[] {
  const words = WORDS[language];
  const { images, seconds, resolution } = usage;
  const prices: { request?: string; second?: string | Readonly<Record<string, string>> } = JSON.parse(charge.prices);
  const { request, second } = prices;
  const perSecond = typeof second === 'object' ? second[String(resolution)] : second;
  const line = (name: string, count: unknown, price = '0') => {
    const cost = format.rubExact(BigInt(Number(count)) * BigInt(price));
    return `${name}: ${format.number(Number(count))} × ${format.rubExact(BigInt(price))} = ${cost}`;
  };
  const length = seconds === undefined ? [] : [`${words.seconds}: ${seconds}`];
  return [
    ...(resolution === undefined ? [] : [`${words.resolution}: ${resolution}`]),
    ...(perSecond === undefined ? length : [line(words.seconds, seconds, perSecond)]),
    ...(request === undefined ? [] : [line(images === undefined ? words.calls : words.images, images ?? 1, request)]),
  ];
}

export function parseUsage({ usage }: Pick<Charge, 'usage'>): Usage {
  return usage === null ? {} : JSON.parse(usage);
}
