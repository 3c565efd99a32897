// The table of calls, shared by the overview and the list of calls.
import type { Charge } from '../../money/decide.ts';
import { table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { linkTo, type OwnerVisit, type Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    caption: 'Calls',
    time: 'Time',
    call: 'Call',
    kind: 'Type',
    model: 'Model',
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
      released: 'cancelled, not charged',
      expired: 'the hold ran out, not charged',
      refunded: 'refunded',
    },
  },
  ru: {
    caption: 'Запросы',
    time: 'Время',
    call: 'Запрос',
    kind: 'Тип',
    model: 'Модель',
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

export function chargeTable(visit: OwnerVisit, charges: readonly Charge[]): Html {
  const words = WORDS[visit.language];
  const columns = [
    { title: words.time },
    { title: words.call },
    { title: words.kind },
    { title: words.model },
    { title: words.state },
    { title: words.charged, number: true },
  ];
  const rows = charges.map((charge) => [
    html`<time datetime="${new Date(charge.createdAt).toISOString()}">${visit.format.time(charge.createdAt)}</time>`,
    html`<a href="${linkTo(visit, `/account/calls/${encodeURIComponent(charge.id)}`)}"><code>${charge.id}</code></a>`,
    words.kinds[charge.kind],
    charge.model,
    describeState(visit, charge),
    visit.format.rub(netCharged(charge)),
  ]);
  return table(words.caption, columns, rows);
}

/** What a call finally took from the wallet; nothing if it was refunded. */
export function netCharged({ state, charged }: Charge): bigint {
  return state === 'refunded' ? 0n : charged;
}
