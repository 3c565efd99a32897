// One call: what it was, what it used, and how its price was calculated, to the last digit.
import type { Charge, Entry, Usage } from '../../money/decide.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { facts, table } from '../parts.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { endingWords, smartWords } from './call-words.ts';
import { chargeOfPath } from './calls.ts';
import { chargeWords } from './charge-table.ts';
import { entryWords } from './entry-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Call',
    time: 'Started',
    ended: 'Ended',
    running: 'still running',
    key: 'Key',
    kind: 'Kind',
    model: 'Model billed',
    asked: 'Model asked for',
    answered: 'Model that answered',
    why: 'How it ended',
    smart: 'How smart chose',
    resolution: 'Resolution',
    refunded: 'Refunded',
    state: 'State',
    held: 'Held at the start',
    charged: 'Charged',
    sum: 'How the price was calculated',
    input: 'Input tokens',
    output: 'Output tokens',
    perMillion: 'per 1M tokens',
    pictures: 'Images',
    seconds: 'Seconds',
    minimum: 'Sums below 0.5 ₽ are charged as 0.5 ₽; each sum is rounded once, half up.',
    request: 'Price each',
    entries: 'Entries in the ledger',
    at: 'Time',
    entry: 'Entry',
    balance: 'Balance',
    heldChange: 'Held',
    chargedChange: 'Charged',
    back: 'All calls',
  },
  ru: {
    title: 'Вызов',
    time: 'Начат',
    ended: 'Закончен',
    running: 'ещё идёт',
    key: 'Ключ',
    kind: 'Вид',
    model: 'Модель по счёту',
    asked: 'Запрошена модель',
    answered: 'Ответила модель',
    why: 'Чем кончился',
    smart: 'Как выбрал smart',
    resolution: 'Разрешение',
    refunded: 'Возвращено',
    state: 'Состояние',
    held: 'Удержано в начале',
    charged: 'Списано',
    sum: 'Как сложилась цена',
    input: 'Токены запроса',
    output: 'Токены ответа',
    perMillion: 'за 1 млн токенов',
    pictures: 'Картинки',
    seconds: 'Секунды',
    minimum: 'Сумма меньше 0,5 ₽ списывается как 0,5 ₽; каждая сумма округляется один раз, половина вверх.',
    request: 'Цена одной',
    entries: 'Записи в журнале денег',
    at: 'Время',
    entry: 'Запись',
    balance: 'Остаток',
    heldChange: 'Удержано',
    chargedChange: 'Списано',
    back: 'Все вызовы',
  },
});

export const call = page({
  path: '/account/calls/{id}',
  who: 'owner',
  async get(visit) {
    const { services, format } = visit;
    const words = WORDS[visit.language];
    const charge = await chargeOfPath(visit);
    const [entries, keys] = await Promise.all([
      services.store.ledger.entriesOfCharge(charge.id),
      services.store.keys.list(visit.account.id),
    ]);
    const { kinds, states } = chargeWords(visit);
    const key = keys.find(({ id }) => id === charge.key);
    const usage = usageOf(charge);
    const body = html`<p><code data-copy>${charge.id}</code></p>
${facts([
  [words.time, format.time(charge.createdAt)],
  [words.ended, charge.endedAt === null ? words.running : format.time(charge.endedAt)],
  [words.key, key ? `${key.name} (…${key.last4})` : charge.key],
  [words.kind, kinds[charge.kind]],
  ...modelRows(visit, charge, usage),
  [words.state, states[charge.state]],
  [words.why, endingWords(visit.language, charge, usage.ended)],
  [words.held, format.rubExact(charge.reserved)],
  [words.charged, format.rubExact(charge.charged)],
  ...(charge.state === 'refunded' ? [[words.refunded, format.rubExact(charge.charged)] as const] : []),
])}
${sumOf(visit, charge)}
<h2>${words.entries}</h2>
${entryTable(visit, entries)}
<p><a href="${linkTo(visit, '/account/calls')}">${words.back}</a></p>`;
    return { title: words.title, body };
  },
});

function usageOf({ usage }: Charge): Usage {
  return usage === null ? {} : JSON.parse(usage);
}

/** What was asked for, what answered, what is billed, and how smart came to it. */
function modelRows({ language }: OwnerVisit, charge: Charge, usage: Usage): readonly (readonly [string, string])[] {
  const words = WORDS[language];
  const { model_asked: asked = charge.model, model_answered: answered = charge.model } = usage;
  const { smart_tier: tier, smart_signals: signals = '' } = usage;
  const smart = tier === undefined ? [] : [[words.smart, smartWords(language, String(tier), String(signals))] as const];
  const models = charge.kind === 'text' && charge.usage !== null;
  return [
    ...(models ? [[words.asked, String(asked)] as const, [words.answered, String(answered)] as const] : []),
    [words.model, charge.model],
    ...smart,
  ];
}

/** Tokens times price, and the result. */
function sumOf(visit: OwnerVisit, charge: Charge): Html | undefined {
  if (charge.usage === null) return undefined;
  const words = WORDS[visit.language];
  const { format } = visit;
  const usage = usageOf(charge);
  const lines = charge.kind === 'text' ? textLines(visit, charge, usage) : mediaLines(visit, usage);
  return html`<h2>${words.sum}</h2>
<ul>${lines.map((line) => html`<li>${line}</li>`)}<li><strong>${words.charged}: ${format.rubExact(charge.charged)}</strong></li></ul>
${charge.kind === 'text' && html`<p class="hint">${words.minimum}</p>`}`;
}

function textLines({ language, format }: OwnerVisit, charge: Charge, usage: Usage): readonly string[] {
  const words = WORDS[language];
  const prices: { input?: string; output?: string } = JSON.parse(charge.prices);
  const line = (name: string, tokens: unknown, price: string | undefined) => {
    const [count, micro] = [BigInt(Number(tokens ?? 0)), BigInt(price ?? 0)];
    const cost = format.rubExact((count * micro + 500_000n) / 1_000_000n);
    return `${name}: ${format.number(Number(count))} × ${format.rubExact(micro)} ${words.perMillion} = ${cost}`;
  };
  return [line(words.input, usage.tokens_input, prices.input), line(words.output, usage.tokens_output, prices.output)];
}

function mediaLines({ language, format }: OwnerVisit, usage: Usage): readonly string[] {
  const words = WORDS[language];
  const names: Readonly<Record<string, string>> = {
    ...{ images: words.pictures, seconds: words.seconds, resolution: words.resolution },
  };
  return Object.entries(usage).map(([name, value]) => {
    return `${names[name] ?? name}: ${typeof value === 'number' ? format.number(value) : value}`;
  });
}

export function entryTable({ language, format }: OwnerVisit, entries: readonly Entry[]): Html {
  const words = WORDS[language];
  const kinds = entryWords(language);
  const columns = [
    { title: words.at },
    { title: words.entry },
    { title: words.balance, number: true },
    { title: words.heldChange, number: true },
    { title: words.chargedChange, number: true },
  ];
  const rows = entries.map(({ at, kind, avail, held, charged }) => [
    format.time(at),
    kinds[kind],
    ...[avail, held, charged].map((micro) => format.rubExact(micro)),
  ]);
  return table(words.entries, columns, rows);
}
