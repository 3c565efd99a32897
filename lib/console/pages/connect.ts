// How to connect programs: the settings of each client, ready to paste, a key for it, and whether its first call arrived.
import { ACTIVE_KEYS_MAX, NEW_KEYS_MAX } from '../../accounts/accounts.ts';
import { HOUR_MS } from '../../base/durations.ts';
import { type Catalog, chooseCatalog } from '../../catalog/catalog.ts';
import { listModels } from '../../catalog/listing.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import { field, foldAway, form, message, select, table } from '../components.ts';
import type { Client, Connection } from '../connect/client.ts';
import { CLIENTS } from '../connect/clients.ts';
import { type Html, html } from '../html.ts';
import { isKeyName, issueKey } from '../issue-key.ts';
import { defineWords } from '../language.ts';
import { isActive } from '../latest-keys.ts';
import { type Page, page } from '../page.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { defaultLimits } from './key-limits.ts';

const WORDS = defineWords({
  en: {
    title: 'Connect a program',
    address: 'Address and model',
    addresses: 'Addresses of the API',
    rules: 'Most programs (base URL):',
    rulesMessages: 'Programs that append /v1/… themselves:',
    rulesHint: 'If a program gets a 404, try the other address. The settings below already have the right one.',
    anyModel: 'Model:',
    key: 'Key',
    keys: 'Your keys',
    used: 'Last request',
    never: 'none yet',
    notYet: 'Waiting for the first request with the new key…',
    arrived: 'The first request with the new key has arrived.',
    refresh: 'Refresh',
    seen: 'A key is shown in full only once, then only its last characters. If you have lost a key, create a new one.',
    noKeys: 'No active keys.',
    newKey: 'New key',
    name: 'Name',
    nameHint: 'Such as the name of the program or the device. You can give the key a budget under “Keys”.',
    issue: 'Create a key',
    issued: 'Copy the key now: it is shown only once. It is already filled in below.',
    full: `There can be ${ACTIVE_KEYS_MAX} active keys, and ${NEW_KEYS_MAX} new ones within 24 hours. Revoke one to create another.`,
    badName: 'A name must have 1 to 100 characters, without control characters.',
    toKeys: 'Keys and their limits',
    yourKey: 'YOUR_KEY',
    replace: 'Replace YOUR_KEY with your key.',
    settings: 'Settings',
    model: 'Model in the settings',
    show: 'Apply',
    noModels: 'No text model is available now.',
  },
  ru: {
    title: 'Подключить программу',
    address: 'Адрес и модель',
    addresses: 'Адреса API',
    rules: 'Для большинства программ (base URL):',
    rulesMessages: 'Для программ, которые сами добавляют /v1/…:',
    rulesHint: 'Если программа получает ошибку 404, возьмите другой адрес. В настройках ниже нужный уже выбран.',
    anyModel: 'Модель:',
    key: 'Ключ',
    keys: 'Ваши ключи',
    used: 'Последний запрос',
    never: 'ещё не было',
    notYet: 'Ждём первый запрос с новым ключом…',
    arrived: 'Первый запрос с новым ключом получен.',
    refresh: 'Обновить',
    seen: 'Ключ показывается целиком один раз, потом — только последние символы. Если ключ потерян, создайте новый.',
    noKeys: 'Действующих ключей нет.',
    newKey: 'Новый ключ',
    name: 'Название',
    nameHint: 'Например, название программы или устройства. Бюджет ключа можно задать в разделе «Ключи».',
    issue: 'Создать ключ',
    issued: 'Скопируйте ключ: он показан только один раз. В настройки ниже он уже подставлен.',
    full: `Действующих ключей может быть ${ACTIVE_KEYS_MAX}, новых за сутки — ${NEW_KEYS_MAX}. Отзовите один, чтобы создать другой.`,
    badName: 'Название: от 1 до 100 символов, кроме управляющих.',
    toKeys: 'Ключи и их ограничения',
    yourKey: 'ВАШ_КЛЮЧ',
    replace: 'Замените ВАШ_КЛЮЧ своим ключом.',
    settings: 'Настройки',
    model: 'Модель в настройках',
    show: 'Показать',
    noModels: 'Сейчас нет доступных текстовых моделей.',
  },
});

export const connect = page({
  path: '/account/connect',
  who: 'account',
  get: (visit) => connectPage(visit, {}),
  async post(visit, sent) {
    const words = WORDS[visit.language];
    const name = sent.text('name');
    if (!isKeyName(name)) return { ...(await connectPage(visit, { name, problem: words.badName })), status: 400 };
    const issued = await issueKey(visit, name, defaultLimits(visit));
    if (!issued) return { ...(await connectPage(visit, { name, problem: words.full })), status: 400 };
    return connectPage(issued.visit, { key: issued.key });
  },
});

interface PageState {
  /** Just issued. */
  readonly key?: string;
  readonly name?: string;
  /** Why no key was issued. */
  readonly problem?: string;
}

async function connectPage(visit: OwnerVisit, { key, name, problem }: PageState): Promise<Page> {
  const words = WORDS[visit.language];
  const { services, query } = visit;
  const models = listTextModels(chooseCatalog(services.catalog(), visit.account));
  const model = models.find((id) => id === query.get('model')) ?? models[0];
  const keys = (await listVisibleKeys(visit)).filter((row) => isActive(visit, row));
  const to = { ...listBases(visit), key: key ?? words.yourKey, model: model ?? '', small: models.at(-1) ?? '' };
  const issue = form(visit, {
    action: linkTo(visit, `/account/connect${keptQuery(visit)}`),
    fields: field({ name: 'name', label: words.name, value: name, hint: words.nameHint, error: problem }),
    button: words.issue,
  });
  const body = html`${key !== undefined && message('done', html`${words.issued}<br><code class="key" data-copy>${key}</code>`)}
<h2>${words.address}</h2>
<p>${words.rules} <code data-copy>${to.v1}</code></p>
<p>${words.rulesMessages} <code data-copy>${to.api}</code></p>
${model !== undefined && html`<p>${words.anyModel} <code data-copy>${model}</code></p>`}
<p class="hint">${words.rulesHint}</p>
<h2>${words.key}</h2>
${keySection(visit, keys)}
${foldAway(words.newKey, issue, problem !== undefined || (keys.length === 0 && key === undefined))}
<p><a href="${linkTo(visit, '/account/keys')}">${words.toKeys}</a></p>
<h2>${words.settings}</h2>
${model === undefined ? html`<p>${words.noModels}</p>` : settingsSection(visit, { models, to, hasKey: key !== undefined })}`;
  return { title: words.title, body };
}

/** The model and the client that were chosen stay chosen beside a new key. */
function keptQuery({ query }: OwnerVisit): string {
  const kept = ['model', 'client'].map((name) => [name, query.get(name) ?? ''] as const);
  const chosen = new URLSearchParams(kept.filter(([, value]) => value !== '').map(([name, value]) => [name, value]));
  return chosen.size === 0 ? '' : `?${chosen}`;
}

function listBases({ services }: OwnerVisit): Pick<Connection, 'v1' | 'api'> {
  const origin = services.publicUrl();
  return { v1: `${origin}/api/v1`, api: `${origin}/api` };
}

/** The dearest output first, `smart` before all; the last is taken for small tasks. */
function listTextModels(catalog: Catalog): readonly string[] {
  const price = (id: string) => {
    const model = catalog.byName.get(id);
    return model?.type === 'text' ? model.price.output : undefined;
  };
  const ids = listModels(catalog)
    .filter(({ type }) => type === 'text')
    .map(({ id }) => id);
  const rank = (id: string) => Number(price(id) ?? Number.MAX_SAFE_INTEGER);
  return ids.toSorted((a, b) => rank(b) - rank(a));
}

/** How long the page looks for the first request of a new key. */
const FRESH_MS = HOUR_MS;

/** A key that was just created is watched until its first request. */
function keySection(visit: OwnerVisit, keys: readonly KeyRow[]): Html {
  const words = WORDS[visit.language];
  const { format, services } = visit;
  if (keys.length === 0) return html`<p>${words.noKeys}</p>`;
  const now = services.now();
  const newest = keys.reduce((a, b) => (b.createdAt >= a.createdAt ? b : a));
  const isFresh = newest.createdAt > now - FRESH_MS;
  const rows = keys.map(({ name, last4, lastUsedAt }) => [
    name,
    html`<code>…${last4}</code>`,
    lastUsedAt === null
      ? words.never
      : html`${format.ago(now - lastUsedAt)} <span class="hint">${format.time(lastUsedAt)}</span>`,
  ]);
  const waits = isFresh && newest.lastUsedAt === null;
  return html`<section id="arrived" aria-live="polite"${waits && html` data-again`}>
${isFresh && html`<p class="message${!waits && html` done`}">${waits ? html`${words.notYet} <a href="${linkTo(visit, `/account/connect${keptQuery(visit)}`)}">${words.refresh}</a>` : words.arrived}</p>`}
${table(words.keys, [{ title: words.name }, { title: words.key }, { title: words.used }], rows)}
</section>
<p class="hint">${words.seen}</p>`;
}

interface SettingsParts {
  readonly models: readonly string[];
  readonly to: Connection;
  readonly hasKey: boolean;
}

function settingsSection(visit: OwnerVisit, { models, to, hasKey }: SettingsParts): Html {
  const words = WORDS[visit.language];
  const { query } = visit;
  const account = query.get('account');
  const choice = html`<form method="get" action="/account/connect">
${account !== null && html`<input type="hidden" name="account" value="${account}">`}
${select(
  { name: 'model', label: words.model, chosen: to.model },
  models.map((id) => [id, id]),
)}
<p><button class="quiet">${words.show}</button></p></form>`;
  // A chosen model would be asked for again without the key, which is shown once.
  return html`${hasKey ? false : html`${choice}<p>${words.replace}</p>`}
${CLIENTS.map((client) => clientSettings(visit, client, to))}`;
}

/** Opens one at a time. */
function clientSettings({ language, query }: OwnerVisit, client: Client, to: Connection): Html {
  const { id, name, settings, note } = client;
  const parts = settings.map(
    ({ where, paste, fields = () => [] }) => html`<h3>${where[language]}</h3>
${paste && html`<pre tabindex="0"><code data-copy>${paste(to)}</code></pre>`}
${fields(to).map(([label, value]) => html`<p>${label[language]}: <code data-copy>${value}</code></p>`)}`,
  );
  return html`<details class="client" name="client" id="${id}"${query.get('client') === id && html` open`}>
<summary>${name}</summary>
${parts}${note && html`<p class="hint">${note[language]}</p>`}</details>`;
}
