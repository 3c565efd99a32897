// The keys of an account: issue (shown once), list, revoke by typing the name.
import { ACTIVE_KEYS_MAX, NEW_KEYS_MAX } from '../../accounts/accounts.ts';
import { type BudgetSum, getBudgetKeyId, indexSums } from '../../money/budget.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import { audit } from '../audit.ts';
import { field, foldAway, form, message, shortTime, table } from '../components.ts';
import { firstCallSample } from '../first-call.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { isKeyName, issueKey } from '../issue-key.ts';
import { defineWords } from '../language.ts';
import { dropEarlierEnded, isActive } from '../latest-keys.ts';
import { type Page, page } from '../page.ts';
import { typedFields } from '../refused-form.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import { activeKey, defaultLimits, type LimitProblem, limitCells, limitFields, readLimits } from './key-limits.ts';

const WORDS = defineWords({
  en: {
    title: 'Keys',
    actions: 'Actions',
    caption: 'Keys of this account',
    ownCaption: 'Your keys',
    name: 'Name',
    key: 'Key',
    created: 'Created',
    used: 'Last used',
    calls: 'Calls',
    never: 'never',
    none: 'No keys yet.',
    revoked: 'revoked',
    issue: 'Create a key',
    issueButton: 'Create',
    limit: `An account can have ${ACTIVE_KEYS_MAX} active keys. Revoke one to create another. An account gets at most ${NEW_KEYS_MAX} new keys within 24 hours.`,
    ownLimit: `You can have ${ACTIVE_KEYS_MAX} active keys. Revoke one to create another. An account gets at most ${NEW_KEYS_MAX} new keys within 24 hours.`,
    badName: 'A name must have 1 to 100 characters, without control characters.',
    issued: 'Copy the key now: it is shown only once.',
    call: 'Try it on the command line',
    connect: 'Settings for your program',
    next: 'Next: settings for your program',
    budget: 'Budget',
    expires: 'Expires',
    models: 'Models',
    limits: 'Limits',
    expired: 'expired',
    revoke: 'Revoke',
    revokeTitle: (name: string) => `Revoke “${name}”`,
    revokeHint: (name: string) => `Calls with this key will be rejected for good. To confirm, enter its name: ${name}`,
    revokeWrong: 'The name does not match.',
    done: 'The key was revoked.',
    back: 'Back to keys',
    manage: 'Keys for managing this account',
    more: 'More revoked and expired keys',
  },
  ru: {
    title: 'Ключи',
    caption: 'Ключи этого аккаунта',
    ownCaption: 'Ваши ключи',
    actions: 'Действия',
    name: 'Название',
    key: 'Ключ',
    created: 'Создан',
    used: 'Последний запрос',
    calls: 'Запросов',
    never: 'не было',
    none: 'Ключей пока нет.',
    revoked: 'отозван',
    issue: 'Создать ключ',
    issueButton: 'Создать',
    limit: `В аккаунте может быть ${ACTIVE_KEYS_MAX} действующих ключей. Отзовите один, чтобы создать другой. За сутки в аккаунте можно создать не больше ${NEW_KEYS_MAX} ключей.`,
    ownLimit: `У вас может быть ${ACTIVE_KEYS_MAX} действующих ключей. Отзовите один, чтобы создать другой. За сутки в аккаунте можно создать не больше ${NEW_KEYS_MAX} ключей.`,
    badName: 'Название: от 1 до 100 символов, кроме управляющих.',
    issued: 'Скопируйте ключ: он показан только один раз.',
    call: 'Проверка из командной строки',
    connect: 'Настройки для вашей программы',
    next: 'Дальше: настройки для вашей программы',
    budget: 'Бюджет',
    expires: 'Срок',
    models: 'Модели',
    limits: 'Ограничения',
    expired: 'истёк',
    revoke: 'Отозвать',
    revokeTitle: (name: string) => `Отозвать «${name}»`,
    revokeHint: (name: string) =>
      `Запросы с этим ключом сразу начнут отклоняться, вернуть ключ нельзя. Для подтверждения введите его название: ${name}`,
    revokeWrong: 'Название не совпадает.',
    done: 'Ключ отозван.',
    back: 'Назад к ключам',
    manage: 'Ключи для управления аккаунтом',
    more: 'Ещё отозванные и истёкшие ключи',
  },
});

/** Revoked and expired keys on each page that lists them all. */
const ENDED_PER_PAGE = 100;

export const keys = page({
  path: '/account/keys',
  who: 'account',
  get: (visit) => keysPage(visit, {}),
  async post(visit, sent) {
    const words = WORDS[visit.language];
    const name = sent.text('name');
    if (!isKeyName(name)) {
      return { ...(await keysPage(visit, { name, sent, problem: words.badName })), status: 400 };
    }
    const limits = readLimits(visit, sent, defaultLimits(visit));
    if ('field' in limits) return { ...(await keysPage(visit, { name, sent, wrong: limits })), status: 400 };
    const issued = await issueKey(visit, name, limits);
    if (!issued) return { ...(await keysPage(visit, { name, sent, refused: limitText(visit) })), status: 400 };
    return keysPage(issued.visit, { issued: issued.key });
  },
});

interface PageState {
  readonly issued?: string;
  readonly name?: string;
  /** The error of the name. */
  readonly problem?: string;
  /** The error of the limits. */
  readonly wrong?: LimitProblem;
  /** Any other reason why no key was issued. */
  readonly refused?: string;
  readonly sent?: Form;
}

async function keysPage(visit: OwnerVisit, { issued, name, problem, wrong, refused, sent }: PageState): Promise<Page> {
  const words = WORDS[visit.language];
  const rows = await listVisibleKeys(visit);
  const { members, emails } = await readKeyPeople(visit, rows);
  const { shown, more } = choosePart(visit, rows);
  const sums = indexSums(await visit.services.store.ledger.budgets(shown.map(getBudgetKeyId)));
  // Members have keys of their own, beside those of the account.
  const counted = visit.ownKeys ? rows : rows.filter(({ createdBy }) => !members.has(createdBy ?? ''));
  const active = counted.filter((key) => isActive(visit, key)).length;
  const limit = limitText(visit);
  const issue = form(visit, {
    action: linkTo(visit, '/account/keys'),
    fields: html`${field({ name: 'name', label: words.name, value: name, error: problem, autofocus: problem !== undefined })}
${limitFields(visit, defaultLimits(visit), sent && { sent, problem: wrong })}`,
    button: words.issueButton,
  });
  const body = html`${visit.query.get('done') === 'revoked' && message('done', words.done)}
${refused !== undefined && message('error', refused)}
${issued !== undefined && message('done', html`${words.issued}<br><code class="key" data-copy>${issued}</code>`)}
${
  issued !== undefined &&
  html`<p><a class="button" href="${linkTo(visit, '/account/connect')}">${words.next}</a></p>
${foldAway(words.call, html`${firstCallSample(visit, issued)}`)}`
}
${issued !== undefined && html`<h2>${captionText(visit)}</h2>`}
${rows.length === 0 ? html`<p>${words.none}</p>` : keyTable(visit, shown, { sums, emails })}
${more && html`<p><a href="${linkTo(visit, `/account/keys?ended=all${more.query}`)}">${words.more}: ${visit.format.number(more.count)}</a></p>`}
<h2>${words.issue}</h2>
${active < ACTIVE_KEYS_MAX ? issue : html`<p>${limit}</p>`}
${issued === undefined && html`<p><a href="${linkTo(visit, '/account/connect')}">${words.connect}</a></p>`}
${mayVisit(visit, '/account/keys/management') && html`<p><a href="${linkTo(visit, '/account/keys/management')}">${words.manage}</a></p>`}`;
  return { title: words.title, body };
}

interface Part {
  readonly shown: readonly KeyRow[];
  readonly more?: { readonly count: number; readonly query: string };
}

/** The first page shows the keys that work too; further ones go back from a key that has ended. */
function choosePart(visit: OwnerVisit, rows: readonly KeyRow[]): Part {
  if (visit.query.get('ended') !== 'all') {
    const shown = dropEarlierEnded(visit, rows);
    return { shown, ...(shown.length < rows.length && { more: { count: rows.length - shown.length, query: '' } }) };
  }
  const ended = rows.filter((key) => !isActive(visit, key));
  const at = ended.findIndex(({ id }) => id === visit.query.get('before'));
  const count = Math.max(0, (at === -1 ? ended.length : at) - ENDED_PER_PAGE);
  const part = new Set(ended.slice(count, at === -1 ? undefined : at));
  const shown = rows.filter((key) => part.has(key) || (at === -1 && isActive(visit, key)));
  const query = `&before=${encodeURIComponent(ended[count]?.id ?? '')}`;
  return { shown, ...(count > 0 && { more: { count, query } }) };
}

function captionText({ language, ownKeys }: OwnerVisit): string {
  const words = WORDS[language];
  return ownKeys ? words.ownCaption : words.caption;
}

function limitText({ language, ownKeys }: OwnerVisit): string {
  const words = WORDS[language];
  return ownKeys ? words.ownLimit : words.limit;
}

interface KeyPeople {
  readonly members: ReadonlySet<string>;
  /** By id, of those who issued a key and are no owners: members, and people who have left. */
  readonly emails: ReadonlyMap<string, string>;
}

/** Owners see whose a key is. */
async function readKeyPeople(visit: OwnerVisit, rows: readonly KeyRow[]): Promise<KeyPeople> {
  const { users } = visit.services.store;
  const issuers = new Set(visit.ownKeys ? [] : rows.flatMap(({ createdBy }) => createdBy ?? []));
  if (issuers.size === 0) return { members: new Set(), emails: new Map() };
  const roles = new Map((await users.listAccountMembers(visit.account.id)).map(({ user, role }) => [user, role]));
  const others = [...issuers].filter((user) => roles.get(user) !== 'owner');
  const read = others.map(async (user) => [user, (await users.get(user))?.email ?? user] as const);
  return {
    members: new Set(others.filter((user) => roles.get(user) === 'member')),
    emails: new Map(await Promise.all(read)),
  };
}

interface KeyTableParts {
  readonly sums: ReadonlyMap<string, BudgetSum>;
  readonly emails: KeyPeople['emails'];
}

function keyTable(visit: OwnerVisit, rows: readonly KeyRow[], { sums, emails }: KeyTableParts): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const named = (title: string) => ({ title, narrow: 'named' }) as const;
  const columns = [
    { title: words.name, narrow: 'main' },
    { title: words.key, narrow: 'sum' },
    ...[words.budget, words.expires, words.models, words.created, words.used].map(named),
    { ...named(words.calls), number: true },
    { title: words.actions },
  ] as const;
  const cells = rows.map((key) => [
    html`${isActive(visit, key) ? html`<a href="${linkToKey(visit, key, '/limits')}">${key.name}</a>` : key.name}${emails.has(key.createdBy ?? '') && html`<br><span class="hint">${emails.get(key.createdBy ?? '')}</span>`}`,
    html`<code>…${key.last4}</code>`,
    ...limitCells(visit, key, sums.get(getBudgetKeyId(key))),
    format.date(key.createdAt),
    key.lastUsedAt === null ? words.never : shortTime(visit, key.lastUsedAt),
    format.number(key.requestsCount),
    isActive(visit, key)
      ? html`<a href="${linkToKey(visit, key, '/limits')}">${words.limits}</a> <a href="${linkToKey(visit, key)}">${words.revoke}</a>`
      : key.revokedAt === null
        ? words.expired
        : words.revoked,
  ]);
  return table(captionText(visit), columns, cells);
}

export const revokeKey = page({
  path: '/account/keys/{id}',
  who: 'account',
  get: async (visit) => revokePage(visit, await activeKey(visit)),
  async post(visit, sent) {
    const key = await activeKey(visit);
    if (sent.text('name') !== key.name) {
      const refused = { sent, text: WORDS[visit.language].revokeWrong, field: 'name' };
      return { ...revokePage({ ...visit, refused }, key), status: 400 };
    }
    await visit.services.accounts.revokeKey(key.id);
    await audit(visit, { action: 'key.revoke', target: key.id, detail: { name: key.name } });
    return { to: linkTo(visit, '/account/keys?done=revoked') };
  },
});

function linkToKey(visit: OwnerVisit, { id }: KeyRow, more = ''): string {
  return linkTo(visit, `/account/keys/${encodeURIComponent(id)}${more}`);
}

function revokePage(visit: OwnerVisit, key: KeyRow): Page {
  const words = WORDS[visit.language];
  const fields = field({ ...typedFields(visit, {})('name'), label: words.name, hint: words.revokeHint(key.name) });
  const action = linkTo(visit, `/account/keys/${encodeURIComponent(key.id)}`);
  const body = html`${form(visit, { action, fields, button: words.revoke, danger: true })}
<p><a href="${linkTo(visit, '/account/keys')}">${words.back}</a></p>`;
  return { title: words.revokeTitle(key.name), body };
}
