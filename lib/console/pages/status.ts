// The public status page, if the operator switches it on: how reliably each model answers, without counts or names.
import { fault } from '../../base/faults.ts';
import { table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, type Language } from '../language.ts';
import { page } from '../page.ts';
import type { ConsoleServices } from '../services.ts';
import { type ModelStatus, readStatus, type Share, STATUS_DAYS } from '../status-figures.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Status',
    about: `The share of customers’ requests that providers answered: in this hour and the last, in 24 hours and in ${STATUS_DAYS} days. Invalid requests, and those canceled by their sender, are not counted.`,
    model: 'Model',
    hour: 'Last hour',
    day: '24 hours',
    all: `${STATUS_DAYS} days`,
    hours: 'By the hour',
    days: 'By the day',
    none: 'no calls',
    noModels: 'No model is offered at the moment.',
    bar: (part: string, least: string) => `${part}: lowest ${least}`,
    legend: { good: '99% and more', fair: '90% and more', bad: 'less than 90%', none: 'no calls' },
  },
  ru: {
    title: 'Статус',
    about: `Доля запросов клиентов, на которые ответили провайдеры: за этот и прошлый час, за 24 часа и за ${STATUS_DAYS} дней. Неверно составленные запросы и запросы, отменённые отправителем, не учитываются.`,
    model: 'Модель',
    hour: 'Последний час',
    day: '24 часа',
    all: `${STATUS_DAYS} дней`,
    hours: 'По часам',
    days: 'По дням',
    none: 'нет запросов',
    noModels: 'Сейчас доступных моделей нет.',
    bar: (part: string, least: string) => `${part}: минимум ${least}`,
    legend: { good: 'от 99\u00a0%', fair: 'от 90\u00a0%', bad: 'меньше 90\u00a0%', none: 'нет запросов' },
  },
});

export const status = page({
  path: '/status',
  who: 'anyone',
  async get(visit) {
    if (!visit.services.statusPage) throw fault('not_found');
    const words = WORDS[visit.language];
    const body = html`<p>${words.about}</p>
${await readTable(visit)}`;
    return { title: words.title, body };
  },
});

/** Anybody may ask, as often as they like. */
const CACHED_MS = 30_000;

interface Cached {
  readonly until: number;
  readonly models: Promise<readonly ModelStatus[]>;
  readonly tables: Map<Language, Html>;
}

const cache = new WeakMap<ConsoleServices, Cached>();

/** Written once for all who ask meanwhile: with hundreds of models that is most of the work. */
async function readTable(visit: Visit): Promise<Html> {
  const { language, services } = visit;
  const { models: read, tables } = readCached(services);
  const models = await read;
  const words = WORDS[language];
  const made =
    tables.get(language) ??
    (models.length === 0 ? html`<p>${words.noModels}</p>` : html`${statusTable(visit, models)}${legend(visit)}`);
  tables.set(language, made);
  return made;
}

function readCached(services: ConsoleServices): Cached {
  const now = services.now();
  const known = cache.get(services);
  // The clock may have been set back since.
  if (known && known.until > now && known.until <= now + CACHED_MS) return known;
  const offered = services.catalog().models.filter(({ routes }) => routes.length > 0);
  const models = readStatus(
    services.store.usage,
    offered.map(({ id }) => id),
    now,
  );
  const fresh = { until: now + CACHED_MS, models, tables: new Map<Language, Html>() };
  cache.set(services, fresh);
  models.catch(() => cache.delete(services));
  return fresh;
}

function statusTable(visit: Visit, models: readonly ModelStatus[]): Html {
  const words = WORDS[visit.language];
  const rows = models.map(({ model, lastHour, day, all, hours, days }) => [
    model,
    ...[lastHour, day, all].map((share) => formatShare(visit, share)),
    bar(visit, words.hours, hours),
    bar(visit, words.days, days),
  ]);
  const shares = [words.hour, words.day, words.all].map((title) => ({ title, number: true }));
  return table(words.title, [{ title: words.model }, ...shares, { title: words.hours }, { title: words.days }], rows);
}

/** Rounded down: only what never failed is 100 %. */
function formatShare({ language, format }: Visit, share: Share): string {
  return share === undefined ? WORDS[language].none : format.percent(Math.floor(share * 1000) / 1000);
}

type Level = 'good' | 'fair' | 'bad' | 'none';

function findLevel(share: Share): Level {
  if (share === undefined) return 'none';
  return share >= 0.99 ? 'good' : share >= 0.9 ? 'fair' : 'bad';
}

const HEIGHT = 20;

/** Neighbours of one level are one part of the bar; the lower it is, the shorter: colours alone say nothing to some. */
function bar(visit: Visit, part: string, shares: readonly Share[]): Html {
  const heights = { good: HEIGHT, fair: 14, bad: 8, none: 2 } as const;
  const levels = shares.map(findLevel);
  const parts: Html[] = [];
  for (let at = 0; at < levels.length; ) {
    const level = levels[at] as Level;
    let end = at + 1;
    while (levels[end] === level) end += 1;
    const height = heights[level];
    parts.push(html`<path class="${level}" d="M${at} ${HEIGHT - height}h${end - at}v${height}h${at - end}z"/>`);
    at = end;
  }
  const known = shares.filter((share) => share !== undefined);
  const least = formatShare(visit, known.length > 0 ? Math.min(...known) : undefined);
  const label = WORDS[visit.language].bar(part, least);
  return html`<svg class="status" role="img" aria-label="${label}" viewBox="0 0 ${levels.length} ${HEIGHT}" preserveAspectRatio="none">${parts}</svg>`;
}

function legend({ language }: Visit): Html {
  const names = WORDS[language].legend;
  const items = (['good', 'fair', 'bad', 'none'] as const).map(
    (level) => html`<li><span class="swatch status ${level}"></span>${names[level]}</li>`,
  );
  return html`<ul class="legend">${items}</ul>`;
}
