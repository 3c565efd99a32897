// The current catalog and its upstreams, read-only for an operator: it is edited in its files.
import { catalogBar } from '../catalog-bar.ts';
import { message, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { chargeWords } from './charge-table.ts';

const WORDS = defineWords({
  en: {
    catalog: 'Catalog',
    upstreams: 'Upstreams',
    edit: 'The catalog is edited in its files; changes take effect within a second.',
    check: 'finds mistakes in advance.',
    model: 'Model',
    aliases: 'Aliases',
    type: 'Type',
    routes: 'Routes',
    off: 'none: not available now',
    warnings: 'Warnings',
    retired: 'Retired',
    replacement: 'Replacement',
    lists: 'Price lists',
    list: 'Price list',
    version: 'Version',
    repriced: 'Models with prices of their own',
    accounts: 'Accounts',
    rates: 'Exchange rates',
    currency: 'Currency',
    rate: 'Rate',
    from: 'From',
    usedSince: 'Used since',
    name: 'Upstream',
    count: 'Routes',
    open: 'Routes paused',
    keys: 'Keys',
    resting: 'Keys paused',
    none: 'No upstream is configured.',
  },
  ru: {
    catalog: 'Каталог',
    upstreams: 'Провайдеры',
    edit: 'Каталог редактируется в файлах; изменения вступают в силу в течение секунды.',
    check: 'заранее найдёт ошибки.',
    model: 'Модель',
    aliases: 'Псевдонимы',
    type: 'Тип',
    routes: 'Маршруты',
    off: 'нет: сейчас недоступна',
    warnings: 'Предупреждения',
    retired: 'Выведены из каталога',
    replacement: 'Замена',
    lists: 'Прайс-листы',
    list: 'Прайс-лист',
    version: 'Версия',
    repriced: 'Моделей с особыми ценами',
    accounts: 'Аккаунтов',
    rates: 'Курсы валют',
    currency: 'Валюта',
    rate: 'Курс',
    from: 'Дата курса',
    usedSince: 'Применяется с',
    name: 'Провайдер',
    count: 'Маршрутов',
    open: 'Маршрутов на паузе',
    keys: 'Ключей',
    resting: 'Ключей на паузе',
    none: 'Провайдеры не подключены.',
  },
});

export const adminCatalog = page({
  path: '/admin/catalog',
  who: 'operator',
  async get(visit) {
    const { services, language } = visit;
    const words = WORDS[language];
    const { kinds } = chargeWords({ language });
    const { models, warnings, retired } = services.catalog();
    const columns = [words.model, words.aliases, words.type, words.routes].map((title) => ({ title }));
    const rows = models.map(({ id, aliases, type, routes }) => [
      html`<code>${id}</code>`,
      aliases.join(', '),
      kinds[type],
      routes.length === 0 ? words.off : routes.map(({ upstream, model }) => `${upstream}: ${model}`).join(', '),
    ]);
    const retiredRows = [...retired].map(([id, replacement]) => [id, replacement]);
    const bar = catalogBar(visit);
    const rates = await listRates(visit);
    const lists = await listPriceLists(visit);
    const body = html`${bar ?? html`<p>${words.edit} <code>tollgate catalog check</code> ${words.check}</p>`}
${warnings.length > 0 && html`<h2>${words.warnings}</h2>${warnings.map((warning) => message('error', warning))}`}
${table(words.catalog, columns, rows)}
${lists && html`<h2>${words.lists}</h2>${lists}`}
${rates && html`<h2>${words.rates}</h2>${rates}`}
${retiredRows.length > 0 && html`<h2>${words.retired}</h2>`}
${retiredRows.length > 0 && table(words.retired, [{ title: words.model }, { title: words.replacement }], retiredRows)}`;
    return { title: words.catalog, body };
  },
});

/** Undefined if the catalog has none. */
async function listPriceLists({ services, language, format }: UserVisit): Promise<Html | undefined> {
  const words = WORDS[language];
  const { priceLists } = services.catalog();
  if (priceLists.size === 0) return undefined;
  const uses = new Map(
    (await services.store.accounts.countPriceLists()).map(({ priceList, accounts }) => [priceList, accounts]),
  );
  const columns = [
    { title: words.list },
    { title: words.version },
    ...[words.repriced, words.accounts].map((title) => ({ title, number: true })),
  ];
  const rows = [...priceLists].map(([name, { version, repriced }]) => [
    html`<code>${name}</code>`,
    html`<code>${version}</code>`,
    ...[repriced, uses.get(name) ?? 0].map((count) => format.number(count)),
  ]);
  return table(words.lists, columns, rows);
}

/** The latest first; undefined if no gateway of this store has used any. */
async function listRates({ services, language, format }: UserVisit): Promise<Html | undefined> {
  const words = WORDS[language];
  const latest = (await services.store.rates.list()).toSorted((one, other) => other.at - one.at).slice(0, RATES_SHOWN);
  if (latest.length === 0) return undefined;
  const columns = [
    { title: words.currency },
    { title: words.rate, number: true },
    ...[words.from, words.usedSince].map((title) => ({ title })),
  ];
  const rows = latest.map(({ currency, rub, from, at }) => [currency, format.rubExact(rub), from, format.time(at)]);
  return table(words.rates, columns, rows);
}

const RATES_SHOWN = 20;

export const adminUpstreams = page({
  path: '/admin/upstreams',
  who: 'operator',
  get({ services, language, format }) {
    const words = WORDS[language];
    const upstreams = services.upstreams();
    const columns = [
      { title: words.name },
      ...[words.count, words.open, words.keys, words.resting].map((title) => ({ title, number: true })),
    ];
    const rows = upstreams.map(({ upstream, routes, routesOpen, keys: { keys, ...faults } }) => {
      const resting = Object.values(faults).reduce((sum, count) => sum + count, 0);
      return [upstream, ...[routes, routesOpen, keys, resting].map((count) => format.number(count))];
    });
    const body = rows.length === 0 ? html`<p>${words.none}</p>` : table(words.upstreams, columns, rows);
    return { title: words.upstreams, body };
  },
});
