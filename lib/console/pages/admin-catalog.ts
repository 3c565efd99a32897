// The current catalog for an operator: its models with their prices, what else it has, and the saves of pages.
import { fault } from '../../base/faults.ts';
import { audit } from '../audit.ts';
import { modelLists } from '../catalog/list-form.ts';
import { priceCells, priceColumns } from '../catalog/price-table.ts';
import { describeWarning } from '../catalog/problem-words.ts';
import { describeRefusal, failureMessage, SAVED, savedChanges, savedMessage } from '../catalog/save-words.ts';
import { changeTerms, discountForm, isTermsChange, rateForm } from '../catalog/terms-forms.ts';
import { catalogBar } from '../catalog-bar.ts';
import { codeField } from '../code-field.ts';
import { foldAway, form, message, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, formatPageDate } from '../language.ts';
import { type Page, page } from '../page.ts';
import { findUserEmails } from '../user-emails.ts';
import type { UserVisit } from '../visit.ts';
import { getModelPath } from './admin-model.ts';
import { describeSource } from './admin-upstreams.ts';
import { actionText } from './audit-words.ts';
import { chargeWords } from './charge-table.ts';

const WORDS = defineWords({
  en: {
    catalog: 'Catalog',
    edit: 'Click a model to change its price, its aliases, or whether it is sold; add models on the page of their upstream. Changes to catalog files take effect within a second;',
    check: 'finds mistakes in them in advance.',
    model: 'Model',
    aliases: 'Aliases',
    type: 'Type',
    routes: 'Routes',
    off: 'none: not available now',
    offTitle: (count: string) => `Not available without an upstream: ${count}`,
    nothing: 'No model is available now: add an upstream and its models.',
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
    definedIn: 'Defined in',
    saves: 'Changes saved on pages',
    at: 'Time',
    who: 'Who',
    note: 'What',
    command: 'command line',
    undo: 'Undo',
    restore: 'Go back to before this',
    restoreText: 'Later saves are undone too. It can be undone like any other.',
    empty: 'Nothing has been changed on pages yet.',
    gone: 'There is no such version any more.',
  },
  ru: {
    catalog: 'Каталог',
    edit: 'Нажмите на модель, чтобы изменить цену, псевдонимы или снять её с продажи; новые модели добавляются на странице провайдера. Правки в файлах каталога вступают в силу в течение секунды;',
    check: 'заранее найдёт ошибки в них.',
    model: 'Модель',
    aliases: 'Псевдонимы',
    type: 'Тип',
    routes: 'Маршруты',
    off: 'нет: сейчас недоступна',
    offTitle: (count: string) => `Недоступны, нет провайдера: ${count}`,
    nothing: 'Доступных моделей нет: добавьте провайдера и его модели.',
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
    definedIn: 'Где задана',
    saves: 'Изменения на страницах',
    at: 'Время',
    who: 'Кто',
    note: 'Что',
    command: 'командная строка',
    undo: 'Отмена',
    restore: 'Вернуть, как было до этого',
    restoreText: 'Более поздние сохранения тоже отменятся. Возврат можно отменить так же.',
    empty: 'На страницах пока ничего не меняли.',
    gone: 'Такой версии больше нет.',
  },
});

export const adminCatalog = page({
  path: '/admin/catalog',
  who: 'operator',
  get: (visit) => catalogPage(visit),
  async post(visit, sent) {
    const { services, language, signedIn } = visit;
    if (isTermsChange(sent.text('change'))) {
      const problem = await changeTerms(visit, sent);
      if (!problem) return { to: `/admin/catalog?${SAVED}` };
      if (!('notice' in problem)) {
        return { ...(await catalogPage({ ...visit, refused: { sent, ...problem } })), status: 400 };
      }
      const shown = await catalogPage({ ...visit, refused: { sent, text: '' } }, problem.notice);
      return problem.isPreview ? shown : { ...shown, status: 400 };
    }
    if (sent.text('change') !== 'restore') throw fault('stale_form');
    const version = Number(sent.text('version'));
    const saved = await services.catalogEditor.restore(version, {
      seen: Number(sent.text('seen')),
      user: signedIn.user.id,
      note: `catalog.restore ${version}`,
    });
    const refuse = async (notice: Html) => ({ ...(await catalogPage(visit, notice)), status: 400 });
    if (!saved) return refuse(message('error', WORDS[language].gone));
    if (saved.status !== 'saved') return refuse(describeRefusal(visit, saved));
    await audit(visit, { action: 'catalog.restore', target: `${version}`, detail: { version: saved.version } });
    return { to: `/admin/catalog?${SAVED}` };
  },
});

async function catalogPage(visit: UserVisit, notice?: Html): Promise<Page> {
  const { services, language } = visit;
  const words = WORDS[language];
  const draft = await services.catalogEditor.read();
  const { warnings, retired } = services.catalog();
  const retiredRows = [...retired].map(([id, replacement]) => [id, replacement]);
  const bar = catalogBar(visit);
  const rates = await listRates(visit);
  const lists = await listPriceLists(visit);
  const body = html`${notice}${savedMessage(visit)}${await failureMessage(visit)}${bar ?? html`<p>${words.edit} <code>tollgate catalog check</code> ${words.check}</p>`}
${warnings.length > 0 && html`<h2>${words.warnings}</h2>${warnings.map((warning) => message('error', describeWarning(language, warning)))}`}
${modelTables(visit)}
${modelLists(visit, draft)}
<h2>${words.saves}</h2>${await listSaves(visit)}
<h2>${words.lists}</h2>${lists}${discountForm(visit, draft.version)}
<h2>${words.rates}</h2>${rates}${rateForm(visit, draft.version)}
${retiredRows.length > 0 && html`<h2>${words.retired}</h2>`}
${retiredRows.length > 0 && table(words.retired, [{ title: words.model }, { title: words.replacement }], retiredRows)}`;
  return { title: words.catalog, body };
}

/** Those that nobody can call come last, folded away: most of the files' models, where few vendors are used. */
function modelTables(visit: UserVisit): Html {
  const { services, language, format } = visit;
  const words = WORDS[language];
  const { kinds } = chargeWords({ language });
  const { models } = services.catalog();
  const columns = [
    ...[words.model, words.aliases, words.type, words.routes, words.definedIn],
    ...priceColumns(language),
  ].map((title) => ({ title }));
  const rows = models.map((model, at) => ({
    isOff: model.routes.length === 0,
    cells: [
      html`<a href="${getModelPath(model.id)}"><code>${model.id}</code></a>`,
      model.aliases.join(', '),
      kinds[model.type],
      model.routes.length === 0
        ? words.off
        : model.routes.map((route) => `${route.upstream}: ${route.model}`).join(', '),
      describeSource(visit, `models[${at}]`),
      ...priceCells(visit, model),
    ],
  }));
  const [on, off] = [rows.filter(({ isOff }) => !isOff), rows.filter(({ isOff }) => isOff)];
  const draw = (caption: string, shown: typeof rows) =>
    table(
      caption,
      columns,
      shown.map(({ cells }) => cells),
    );
  const title = words.offTitle(format.number(off.length));
  return html`${on.length === 0 ? html`<p>${words.nothing}</p>` : draw(words.catalog, on)}
${off.length > 0 && foldAway(title, draw(title, off))}`;
}

const SAVES_SHOWN = 20;

async function listSaves(visit: UserVisit): Promise<Html> {
  const { services, language, format } = visit;
  const words = WORDS[language];
  // The oldest is only compared with.
  const versions = await services.catalogEditor.history(SAVES_SHOWN + 1);
  const saves = versions.slice(0, SAVES_SHOWN);
  const last = saves[0]?.seq ?? 0;
  if (last === 0) return html`<p>${words.empty}</p>`;
  const people = await findUserEmails(
    services.store.users,
    saves.map(({ user }) => user),
  );
  const rows = saves.map(({ seq, at, user, note, text }, place) => [
    format.number(seq),
    format.time(at),
    user === '-' ? words.command : (people.get(user) ?? user),
    html`${describeNote(visit, note)}${savedChanges(visit, JSON.parse(versions[place + 1]?.text ?? '{}'), JSON.parse(text))}`,
    form(visit, {
      action: '/admin/catalog',
      button: words.restore,
      confirm: `${words.restore}? ${words.restoreText}`,
      fields: html`<input type="hidden" name="change" value="restore"><input type="hidden" name="version" value="${seq - 1}"><input type="hidden" name="seen" value="${last}">${codeField(visit, `restore-${seq}`)}`,
    }),
  ]);
  return table(
    words.saves,
    [words.version, words.at, words.who, words.note, words.undo].map((title) => ({ title })),
    rows,
  );
}

/** A note is an action and what it was done to. */
function describeNote({ language }: UserVisit, note: string): Html {
  const [action = '', ...target] = note.split(' ');
  return html`${actionText(language, action)}${target.length > 0 && html` <code>${target.join(' ')}</code>`}`;
}

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
  const rows = latest.map(({ currency, rub, from, at }) => [
    currency,
    format.rubExact(rub),
    formatPageDate(language, from),
    format.time(at),
  ]);
  return table(words.rates, columns, rows);
}

const RATES_SHOWN = 20;
