// The table of calls, shared by the overview and the list of calls.
import type { Charge } from '../../money/decide.ts';
import { USAGE_UNITS } from '../../money/usage-units.ts';
import { type KeyName, keyName } from '../charge-query.ts';
import { shortTime, table, usual } from '../components.ts';
import { type Html, html } from '../html.ts';
import { findKeyOwner, type KeyOwner } from '../key-owners.ts';
import { defineWords } from '../language.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    caption: 'Calls',
    time: 'Time',
    kind: 'Type',
    model: 'Model',
    key: 'Key',
    tokens: 'Tokens',
    tokenCount: (count: string) => `${count} tokens`,
    duration: 'Duration',
    seconds: (count: string) => `${count} s`,
    state: 'Status',
    charged: 'Charged',
    kinds: { text: 'text', embedding: 'embeddings', image: 'image', edit: 'edit', video: 'video', service: 'service' },
    states: {
      held: 'running',
      settled: 'done',
      released: 'failed, not charged',
      expired: 'failed on our side, not charged',
      refunded: 'refunded',
    },
    services: {
      held: 'amount held',
      settled: 'done',
      released: 'canceled, not charged',
      expired: 'the hold ran out, not charged',
      refunded: 'refunded',
    },
  },
  ru: {
    caption: 'Запросы',
    time: 'Время',
    kind: 'Тип',
    model: 'Модель',
    key: 'Ключ',
    tokens: 'Токены',
    tokenCount: (count: string) => `${count}\u00a0ток.`,
    duration: 'Длительность',
    seconds: (count: string) => `${count}\u00a0с`,
    state: 'Статус',
    charged: 'Списано',
    kinds: {
      text: 'текст',
      embedding: 'эмбеддинги',
      image: 'картинка',
      edit: 'правка',
      video: 'видео',
      service: 'услуга',
    },
    states: {
      held: 'выполняется',
      settled: 'готово',
      released: 'не выполнено, деньги не списаны',
      expired: 'наш сбой, деньги не списаны',
      refunded: 'деньги возвращены',
    },
    services: {
      held: 'сумма в резерве',
      settled: 'готово',
      released: 'отменено, деньги не списаны',
      expired: 'срок резерва истёк, деньги не списаны',
      refunded: 'возвращено',
    },
  },
});

/** Words for kinds and states, shared with other pages. */
export function chargeWords({ language }: Pick<Visit, 'language'>) {
  return WORDS[language];
}

/** How far a call, or a hold of a service, has come. */
export function describeState({ language }: Pick<Visit, 'language'>, { kind, state }: Charge): string {
  const { states, services } = WORDS[language];
  return kind === 'service' ? services[state] : states[state];
}

interface ChargeTableParts {
  /** Those with names; other keys show as their ids. */
  readonly keys: readonly KeyName[];
  /** Whose they are, where that differs. */
  readonly owners?: readonly KeyOwner[];
  /** Where a call leads. */
  readonly href: (id: string) => string;
}

export function chargeTable(
  visit: Visit,
  charges: readonly Charge[],
  { keys, owners = [], href }: ChargeTableParts,
): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const names = new Map(keys.map((key) => [key.id, nameKey(key, owners)]));
  const columns = [
    { title: words.time, narrow: 'main' },
    { title: words.model, narrow: 'main' },
    { title: words.key },
    { title: words.kind },
    { title: words.tokens, number: true },
    { title: words.duration, number: true },
    { title: words.state },
    { title: words.charged, number: true, narrow: 'sum' },
  ] as const;
  const rows = charges.map((charge) => [
    html`<a href="${href(charge.id)}">${shortTime(visit, charge.createdAt)}</a>`,
    charge.model,
    names.get(charge.key) ?? charge.key,
    charge.kind === 'text' ? usual(words.kinds.text) : words.kinds[charge.kind],
    describeTokens(visit, charge),
    describeDuration(visit, charge),
    charge.state === 'settled' ? usual(describeState(visit, charge)) : describeState(visit, charge),
    format.rub(netCharged(charge)),
  ]);
  return table(words.caption, columns, rows);
}

function nameKey(key: KeyName, owners: readonly KeyOwner[]): Html {
  const email = findKeyOwner(owners, key.id);
  return html`${keyName(key)}${email !== undefined && html` <span class="hint">${email}</span>`}`;
}

/** Tokens of reasoning are part of the output. */
const TOKEN_UNITS = USAGE_UNITS.filter((unit) => unit.startsWith('tokens') && unit !== 'tokens_reasoning');

/** Input and output together; empty for calls without tokens. */
function describeTokens({ language, format }: Visit, { usage }: Charge): string {
  if (usage === null) return '';
  const counts: Readonly<Record<string, unknown>> = JSON.parse(usage);
  const sum = TOKEN_UNITS.reduce((total, unit) => total + Number(counts[unit] ?? 0), 0);
  return sum === 0 ? '' : WORDS[language].tokenCount(format.number(sum));
}

/** From the start of a call to its end; empty while it runs. */
function describeDuration(visit: Visit, { createdAt, endedAt }: Charge): string {
  return endedAt === null ? '' : describeMs(visit, endedAt - createdAt);
}

/** In seconds, in lists to a tenth. */
export function describeMs({ language, format }: Visit, ms: number, digits: 1 | 2 = 1): string {
  return WORDS[language].seconds(format.number(Number((ms / 1000).toFixed(digits))));
}

/** A call whose row changes soon, unlike the hold of a service. */
export function isRunning({ state, kind }: Charge): boolean {
  return state === 'held' && kind !== 'service';
}

/** What a call finally took from the wallet; nothing if it was refunded. */
export function netCharged({ state, charged }: Charge): bigint {
  return state === 'refunded' ? 0n : charged;
}
