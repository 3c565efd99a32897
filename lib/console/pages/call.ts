// One call: its facts, its usage, and the calculation of its price to the last digit.

import { ownerCallJson } from '../../manage/actions/charge.ts';
import type { Attempt } from '../../money/attempt.ts';
import type { Charge, Usage } from '../../money/decide.ts';
import { parseGrantParts, sumParts } from '../../money/grants.ts';
import { compareWithList, computeDifference } from '../../money/list-price.ts';
import { TEXT_MINIMUM } from '../../money/price.ts';
import { itemizeTokens } from '../../money/token-receipt.ts';
import { MOVED_NAME } from '../../money/token-usage.ts';
import { keyName } from '../charge-query.ts';
import { definitionList, foldAway, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { findKeyOwner, readKeyOwners } from '../key-owners.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { attemptWords, describeSpeed } from './attempt-table.ts';
import { describeCause, endingWords, smartWords } from './call-words.ts';
import { findRequestedCharge } from './calls.ts';
import { chargeWords, describeMs, describeState, isRunning } from './charge-table.ts';
import { entriesTitle, entryTable } from './entry-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Call',
    time: 'Started',
    ended: 'Ended',
    running: 'still running',
    key: 'Key',
    member: 'Member',
    kind: 'Type',
    duration: 'Duration',
    first: 'Time to first fragment',
    speed: 'Speed',
    attempts: 'Attempts',
    columns: ['No.', 'Provider', 'Ending', 'First fragment', 'Total time'],
    provider: (number: string) => `provider ${number}`,
    model: 'Model',
    billed: 'Billed as',
    requested: 'Requested model',
    answered: 'Answered by',
    why: 'Result',
    smart: 'How smart chose',
    resolution: 'Resolution',
    refunded: 'Refunded',
    state: 'Status',
    held: 'Held',
    returned: (held: string, returned: string) => `${held}, of which ${returned} was returned`,
    charged: 'Charged',
    granted: 'Including from bonuses',
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
    back: 'All calls',
  },
  ru: {
    title: 'Запрос',
    time: 'Начат',
    ended: 'Завершён',
    running: 'ещё выполняется',
    key: 'Ключ',
    member: 'Участник',
    kind: 'Тип',
    duration: 'Длительность',
    first: 'Первый фрагмент через',
    speed: 'Скорость',
    attempts: 'Обращения к провайдерам',
    columns: ['№', 'Провайдер', 'Результат', 'Первый фрагмент', 'Общее время'],
    provider: (number: string) => `провайдер ${number}`,
    model: 'Модель',
    billed: 'Тарифицирована как',
    requested: 'Запрошена модель',
    answered: 'Ответила модель',
    why: 'Результат',
    smart: 'Выбор smart',
    resolution: 'Разрешение',
    refunded: 'Возвращено',
    state: 'Статус',
    held: 'Зарезервировано',
    returned: (held: string, returned: string) => `${held}, из них вернулось ${returned}`,
    charged: 'Списано',
    granted: 'В том числе бонусами',
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
    back: 'Все запросы',
  },
});

export const call = page({
  path: '/account/calls/{id}',
  who: 'account',
  async get(visit) {
    const { services, format } = visit;
    const words = WORDS[visit.language];
    const charge = await findRequestedCharge(visit);
    const [entries, keys, attempts] = await Promise.all([
      services.store.ledger.listChargeEntries(charge.id),
      listVisibleKeys(visit),
      services.store.attempts.list([charge.id]),
    ]);
    const cause = findCause(visit, charge, attempts);
    const { kinds } = chargeWords(visit);
    const key = keys.find(({ id }) => id === charge.key);
    const member = findKeyOwner(await readKeyOwners(visit, keys), charge.key);
    const usage = parseUsage(charge);
    const body = html`<p><code data-copy>${charge.id}</code></p>
<section id="call"${isRunning(charge) && html` data-again`}>${definitionList([
      [words.charged, html`<strong class="big">${format.rubExact(charge.charged)}</strong>`],
      [words.time, format.time(charge.createdAt)],
      [words.ended, charge.endedAt === null ? words.running : format.time(charge.endedAt)],
      ...timeRows(visit, charge, attempts),
      [words.key, key ? keyName(key) : charge.key],
      ...(member === undefined ? [] : [[words.member, member] as const]),
      [words.kind, kinds[charge.kind]],
      ...modelRows(visit, charge, usage),
      [words.state, describeState(visit, charge)],
      ...(charge.kind === 'service' ? [] : [[words.why, cause ?? endingWords(visit.language, charge, usage)] as const]),
      [words.held, describeHold(visit, charge)],
      ...(charge.grants === undefined
        ? []
        : [[words.granted, format.rubExact(sumParts(parseGrantParts(charge.grants)))] as const]),
      ...(charge.state === 'refunded' ? [[words.refunded, format.rubExact(charge.charged)] as const] : []),
    ])}
${attemptTable(visit, attempts)}
${priceCalculation(visit, charge)}
${foldAway(`${entriesTitle(visit)} (${format.number(entries.length)})`, entryTable(visit, entries))}
${foldedJson(ownerCallJson(charge, entries))}</section>
<p><a href="${linkTo(visit, '/account/calls')}">${words.back}</a></p>`;
    return { title: words.title, body };
  },
});

/** A record for programs, the same in both languages. */
export function foldedJson(record: object): Html {
  return foldAway('JSON', html`<pre tabindex="0"><code data-copy>${JSON.stringify(record, null, 2)}</code></pre>`);
}

/** What a text depends on, of a page of an owner or an operator. */
type Shown = Pick<OwnerVisit, 'language' | 'format'>;

/** Why the call failed, if it did. */
function findCause({ language }: OwnerVisit, { state }: Charge, attempts: readonly Attempt[]): string | undefined {
  return state === 'released' || state === 'refunded' ? describeCause(language, attempts) : undefined;
}

/** How long the call took until its first fragment and in all, and how fast its answer came. */
function timeRows(
  visit: OwnerVisit,
  charge: Charge,
  attempts: readonly Attempt[],
): readonly (readonly [string, string])[] {
  const words = WORDS[visit.language];
  if (charge.endedAt === null) return [];
  const last = attempts.at(-1);
  const first = typeof last?.firstMs === 'number' ? last.at + last.firstMs - charge.createdAt : undefined;
  const speed = last && describeSpeed(visit, last);
  return [
    [words.duration, describeMs(visit, charge.endedAt - charge.createdAt, 2)],
    ...(first === undefined ? [] : [[words.first, describeMs(visit, Math.max(0, first), 2)] as const]),
    ...(speed === undefined ? [] : [[words.speed, speed] as const]),
  ];
}

/** What was held, and how much of it came back. */
function describeHold({ language, format }: OwnerVisit, { reserved, charged, endedAt }: Charge): string {
  const held = format.rubExact(reserved);
  const returned = reserved - charged;
  if (endedAt === null || returned <= 0n) return held;
  return WORDS[language].returned(held, format.rubExact(returned));
}

/** Of a call that more than one upstream was asked for. Its owner learns how many there are, and no names. */
function attemptTable(visit: OwnerVisit, attempts: readonly Attempt[]): Html | undefined {
  if (attempts.length < 2) return undefined;
  const words = WORDS[visit.language];
  const { format } = visit;
  const { endings } = attemptWords(visit);
  const upstreams = [...new Set(attempts.map(({ upstream }) => upstream))];
  const rows = attempts.map(({ number, upstream, ending, firstMs, totalMs }) => [
    format.number(number),
    words.provider(format.number(upstreams.indexOf(upstream) + 1)),
    endings[ending],
    firstMs === null ? '' : describeMs(visit, firstMs, 2),
    describeMs(visit, totalMs, 2),
  ]);
  const columns = words.columns.map((title, at) => ({ title, number: at === 0 || at > 2 }));
  return html`<h2>${words.attempts}</h2>
${table(words.attempts, columns, rows)}`;
}

function parseUsage({ usage }: Charge): Usage {
  return usage === null ? {} : JSON.parse(usage);
}

/** The requested, answering and billed model, one line if they are the same, and why smart chose it. */
function modelRows({ language }: OwnerVisit, charge: Charge, usage: Usage): readonly (readonly [string, string])[] {
  const words = WORDS[language];
  const { model_asked: requested = charge.model, model_answered: answered = charge.model } = usage;
  const { smart_tier: tier, smart_signals: signals = '' } = usage;
  const smart = tier === undefined ? [] : [[words.smart, smartWords(language, String(tier), String(signals))] as const];
  if (requested === charge.model && answered === charge.model) return [[words.model, charge.model], ...smart];
  return [
    [words.requested, String(requested)],
    [words.answered, String(answered)],
    [words.billed, charge.model],
    ...smart,
  ];
}

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
