// One call: how it ended and what it cost, its times and attempts, and the calculation of its price.

import { ownerCallJson } from '../../manage/actions/charge.ts';
import type { Attempt } from '../../money/attempt.ts';
import type { Charge, Usage } from '../../money/decide.ts';
import { parseGrantParts, sumParts } from '../../money/grants.ts';
import { keyName } from '../charge-query.ts';
import { factLines, foldAway, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { findKeyOwner, readKeyOwners } from '../key-owners.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { attemptWords, describeSpeed } from './attempt-table.ts';
import { parseUsage, priceCalculation } from './call-price.ts';
import { describeCause, endingWords, smartWords } from './call-words.ts';
import { findRequestedCharge } from './calls.ts';
import { chargeWords, describeMs, describeState, isRunning, netCharged } from './charge-table.ts';
import { entriesTitle, entryTable } from './entry-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Call',
    time: 'Started',
    key: 'Key',
    member: 'Member',
    kind: 'Type',
    duration: 'Duration',
    first: 'Time to first fragment',
    speed: 'Speed',
    attempts: 'Attempts',
    columns: ['No.', 'Provider', 'Ending', 'Over time', 'First fragment', 'Total time'],
    provider: (number: string) => `provider ${number}`,
    billed: 'Billed as',
    requested: 'Requested model',
    answered: 'Answered by',
    smart: 'How smart chose',
    refunded: 'Refunded',
    state: 'Status',
    held: 'Held',
    returned: (held: string, returned: string) => `${held}, of which ${returned} was returned`,
    granted: 'Including from bonuses',
    back: 'All calls',
  },
  ru: {
    title: 'Запрос',
    time: 'Начат',
    key: 'Ключ',
    member: 'Участник',
    kind: 'Тип',
    duration: 'Длительность',
    first: 'Первый фрагмент через',
    speed: 'Скорость',
    attempts: 'Обращения к провайдерам',
    columns: ['№', 'Провайдер', 'Результат', 'Ход', 'Первый фрагмент', 'Общее время'],
    provider: (number: string) => `провайдер ${number}`,
    billed: 'Тарифицирована как',
    requested: 'Запрошена модель',
    answered: 'Ответила модель',
    smart: 'Выбор smart',
    refunded: 'Возвращено',
    state: 'Статус',
    held: 'Зарезервировано',
    returned: (held: string, returned: string) => `${held}, из них вернулось ${returned}`,
    granted: 'В том числе бонусами',
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
    const result =
      charge.kind === 'service' ? describeState(visit, charge) : (cause ?? endingWords(visit.language, charge, usage));
    const body = html`<p><code data-copy>${charge.id}</code></p>
<section id="call"${isRunning(charge) && html` data-again`}>
<p class="outcome"><span><strong>${charge.model}</strong> · ${result}</span> <strong class="big">${format.rubExact(netCharged(charge))}</strong></p>
${factLines([
  [words.time, format.time(charge.createdAt)],
  ...timeRows(visit, charge, attempts),
  [words.key, key ? keyName(key) : charge.key],
  ...(member === undefined ? [] : [[words.member, member] as const]),
  [words.kind, kinds[charge.kind]],
  [words.state, describeState(visit, charge)],
  ...modelRows(visit, charge, usage),
  [words.held, describeHold(visit, charge)],
  ...(charge.grants === undefined
    ? []
    : [[words.granted, format.rubExact(sumParts(parseGrantParts(charge.grants)))] as const]),
  ...(charge.state === 'refunded' ? [[words.refunded, format.rubExact(charge.charged)] as const] : []),
])}
${attemptTable(visit, charge, attempts)}
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
function attemptTable(visit: OwnerVisit, { createdAt }: Charge, attempts: readonly Attempt[]): Html | undefined {
  if (attempts.length < 2) return undefined;
  const words = WORDS[visit.language];
  const { format } = visit;
  const { endings } = attemptWords(visit);
  const upstreams = [...new Set(attempts.map(({ upstream }) => upstream))];
  const start = Math.min(createdAt, ...attempts.map(({ at }) => at));
  const end = Math.max(...attempts.map(({ at, totalMs }) => at + totalMs));
  const rows = attempts.map(({ number, upstream, ending, at, firstMs, totalMs }) => [
    format.number(number),
    words.provider(format.number(upstreams.indexOf(upstream) + 1)),
    endings[ending],
    timeBar({ from: at - start, firstMs, totalMs }, end - start),
    firstMs === null ? '' : describeMs(visit, firstMs, 2),
    describeMs(visit, totalMs, 2),
  ]);
  const columns = words.columns.map((title, at) => ({ title, number: at === 0 || at > 3 }));
  return html`<h2>${words.attempts}</h2>
${table(words.attempts, columns, rows)}`;
}

/** A part of the whole time of a call, in ms: faint until the first fragment. What it shows stands in numbers beside it. */
function timeBar(
  { from, firstMs, totalMs }: { readonly from: number; readonly firstMs: number | null; readonly totalMs: number },
  wholeMs: number,
): Html {
  const share = (ms: number) => (100 * ms) / Math.max(1, wholeMs);
  const [x, waits, width] = [share(from), share(firstMs ?? totalMs), share(totalMs)].map((each) => each.toFixed(2));
  return html`<svg class="span" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="whole" x="${x}" width="${width}" height="10"/><rect class="waits" x="${x}" width="${waits}" height="10"/></svg>`;
}

/** The requested, answering and billed model if they differ, and why smart chose it. */
function modelRows({ language }: OwnerVisit, charge: Charge, usage: Usage): readonly (readonly [string, string])[] {
  const words = WORDS[language];
  const { model_asked: requested = charge.model, model_answered: answered = charge.model } = usage;
  const { smart_tier: tier, smart_signals: signals = '' } = usage;
  const smart = tier === undefined ? [] : [[words.smart, smartWords(language, String(tier), String(signals))] as const];
  if (requested === charge.model && answered === charge.model) return smart;
  return [
    [words.requested, String(requested)],
    [words.answered, String(answered)],
    [words.billed, charge.model],
    ...smart,
  ];
}
