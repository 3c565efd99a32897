// A user's settings: language and time zone, password, authenticator app, sessions.
import { moveResets } from '../../accounts/zone.ts';
import { fault } from '../../base/faults.ts';
import { findPasswordProblem } from '../../users/password.ts';
import { accountNameWords, RENAME, renameAccount } from '../account-name.ts';
import { audit } from '../audit.ts';
import { describeBrowser } from '../browser-name.ts';
import { mailSignInChange } from '../change-email.ts';
import { definitionList, field, form, message, select, table } from '../components.ts';
import { confirmPassword } from '../confirm.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords, findWord, isLanguage, isTimeZone, LANGUAGE_NAMES, listZones } from '../language.ts';
import { roleWords } from '../member-words.ts';
import { type Answer, type Page, page } from '../page.ts';
import { passwordWords } from '../password-words.ts';
import { typedFields } from '../refused-form.ts';
import { renewSession } from '../start-session.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import { type AppChange, type AppProblem, appRemoved, appSection, changeApp, isAppChange } from './settings-app.ts';

const WORDS = defineWords({
  en: {
    title: 'Settings',
    profile: 'Profile',
    email: 'Email',
    account: 'Account',
    language: 'Language',
    zone: 'Time zone',
    zoneHint:
      'For example, Europe/Moscow or Asia/Omsk. Days and months of an account follow the time zone of its first owner.',
    badZone: 'Unknown time zone.',
    save: 'Save',
    saved: 'Saved.',
    password: 'Password',
    old: 'Current password',
    fresh: 'New password',
    again: 'Repeat the new password',
    change: 'Change the password',
    changed: 'The password was changed. All other sessions have ended.',
    sessions: 'Active sessions',
    began: 'Started',
    seen: 'Last active',
    address: 'IP address',
    browser: 'Browser',
    current: 'Device',
    here: 'this device',
    endOthers: 'End all other sessions',
    ended: 'All other sessions have ended.',
    conflict: 'The settings have changed in the meantime. Try again.',
    alerts: 'Alerts',
    alertsText: 'We warn you when the balance or the budget of a key runs low.',
    alertsLink: 'Set up alerts',
    export: 'My data',
    exportText: 'Your profile, sessions, keys, wallet and alerts, as JSON.',
    exportLink: 'Download',
    leave: 'Your role in this account',
    role: 'Role',
    leaveLink: 'Leave the account',
  },
  ru: {
    title: 'Настройки',
    profile: 'Профиль',
    email: 'Почта',
    account: 'Аккаунт',
    language: 'Язык',
    zone: 'Часовой пояс',
    zoneHint: 'Например, Europe/Moscow или Asia/Omsk. Дни и месяцы аккаунта считаются по поясу его первого владельца.',
    badZone: 'Такого часового пояса нет.',
    save: 'Сохранить',
    saved: 'Сохранено.',
    password: 'Пароль',
    old: 'Текущий пароль',
    fresh: 'Новый пароль',
    again: 'Повторите новый пароль',
    change: 'Сменить пароль',
    changed: 'Пароль изменён. На остальных устройствах выполнен выход.',
    sessions: 'Активные входы',
    began: 'Вход',
    seen: 'Последняя активность',
    address: 'IP-адрес',
    browser: 'Браузер',
    current: 'Устройство',
    here: 'это устройство',
    endOthers: 'Выйти на остальных устройствах',
    ended: 'На остальных устройствах выполнен выход.',
    conflict: 'Настройки за это время изменились. Попробуйте ещё раз.',
    alerts: 'Оповещения',
    alertsText: 'Предупредим, когда баланс или бюджет ключа подходит к концу.',
    alertsLink: 'Настроить оповещения',
    export: 'Мои данные',
    exportText: 'Профиль, активные входы, ключи, кошелёк и оповещения в JSON.',
    exportLink: 'Скачать',
    leave: 'Ваша роль в аккаунте',
    role: 'Роль',
    leaveLink: 'Покинуть аккаунт',
  },
});

/** Suggestions for the field of the time zone: those of Russia and its neighbours first. */
const ZONES = listZones();

type Problem = Readonly<Partial<Record<'timeZone' | 'old' | 'password' | 'again', string>>>;

export const settings = page({
  path: '/account/settings',
  who: 'account',
  get: (visit) => settingsPage(visit, {}),
  post(visit, sent) {
    const change = sent.text('change');
    if (isAppChange(change)) return answerApp(visit, change, sent);
    switch (change) {
      case 'profile':
        return changeProfile(visit, sent);
      case RENAME:
        return renameByForm(visit, sent);
      case 'password':
        return changePassword(visit, sent);
      case 'sessions':
        return endOthers(visit);
      default:
        throw fault('stale_form');
    }
  },
});

async function settingsPage(visit: OwnerVisit, problems: Problem, app?: AppProblem): Promise<Page> {
  const words = WORDS[visit.language];
  const { user } = visit.signedIn;
  const doneTexts = {
    saved: words.saved,
    password: words.changed,
    sessions: words.ended,
    app_off: appRemoved(visit),
  };
  const doneText = findWord(doneTexts, visit.query.get('done'));
  const sections = [
    doneText !== undefined && message('done', doneText),
    profile(visit),
    visit.role === 'owner' && accountName(visit),
    user.password !== null && password(visit, problems),
    await appSection(visit, app),
    await sessions(visit),
    mayVisit(visit, '/account/settings/alerts') &&
      html`<h2>${words.alerts}</h2><p>${words.alertsText} <a href="${linkTo(visit, '/account/settings/alerts')}">${words.alertsLink}</a></p>`,
    html`<h2>${words.export}</h2><p>${words.exportText} <a href="${linkTo(visit, '/account/settings/export')}" download>${words.exportLink}</a></p>`,
    html`<h2>${words.leave}</h2><p>${words.role}: ${roleWords(visit)[visit.role]}. <a href="${linkTo(visit, '/account/leave')}">${words.leaveLink}</a></p>`,
  ];
  return { title: words.title, body: html`${sections}` };
}

function section(visit: OwnerVisit, change: string, button: string, fields: Html): Html {
  const action = linkTo(visit, '/account/settings');
  return form(visit, { action, button, fields: html`<input type="hidden" name="change" value="${change}">${fields}` });
}

function profile(visit: OwnerVisit): Html {
  const words = WORDS[visit.language];
  const { user } = visit.signedIn;
  const typed = typedFields(visit, { change: 'profile' });
  const fields = html`${select(
    { name: 'language', label: words.language, chosen: typed('language', visit.language).value },
    Object.entries(LANGUAGE_NAMES),
  )}
${field({ ...typed('timeZone', user.timeZone), label: words.zone, hint: words.zoneHint, list: 'zones' })}
<datalist id="zones">${ZONES.map((zone) => html`<option value="${zone}">`)}</datalist>`;
  const who = definitionList([
    [words.email, user.email],
    [words.account, html`${visit.account.name} <code>${visit.account.id}</code>`],
  ]);
  return html`<h2>${words.profile}</h2>${who}${section(visit, 'profile', words.save, fields)}`;
}

function accountName(visit: OwnerVisit): Html {
  const { title, hint, button } = accountNameWords(visit);
  const typed = typedFields(visit, { change: RENAME })('name', visit.account.name);
  return html`<h2>${title}</h2>${section(visit, RENAME, button, field({ ...typed, label: title, hint }))}`;
}

function password(visit: OwnerVisit, problems: Problem): Html {
  const words = WORDS[visit.language];
  const fields = html`${field({ name: 'old', label: words.old, type: 'password', autocomplete: 'current-password', error: problems.old })}
${field({ name: 'password', label: words.fresh, type: 'password', autocomplete: 'new-password', error: problems.password })}
${field({ name: 'again', label: words.again, type: 'password', autocomplete: 'new-password', error: problems.again })}`;
  return html`<h2>${words.password}</h2>${section(visit, 'password', words.change, fields)}`;
}

async function sessions(visit: OwnerVisit): Promise<Html> {
  const words = WORDS[visit.language];
  const { services, signedIn, format } = visit;
  const list = await services.sessions.list(signedIn.user);
  const columns = [words.began, words.seen, words.address, words.browser, words.current].map((title) => ({ title }));
  const rows = list.map(({ hash, createdAt, seenAt, address, agent }) => [
    format.time(createdAt),
    format.time(seenAt),
    address,
    html`<span title="${agent}">${describeBrowser(visit.language, agent)}</span>`,
    hash === signedIn.session.hash && words.here,
  ]);
  return html`<h2>${words.sessions}</h2>${table(words.sessions, columns, rows)}
${list.length > 1 && section(visit, 'sessions', words.endOthers, html``)}`;
}

async function changeProfile(visit: OwnerVisit, sent: Form): Promise<Answer> {
  const { user } = visit.signedIn;
  const language = sent.text('language');
  const timeZone = sent.text('timeZone');
  if (!isTimeZone(timeZone)) {
    const wrong = { sent, text: WORDS[visit.language].badZone, field: 'timeZone' };
    return refused({ ...visit, refused: wrong }, {});
  }
  const changed = { ...user, timeZone, language: isLanguage(language) ? language : user.language };
  if (!(await visit.services.people.change(changed)))
    return refused({ ...visit, refused: { sent, text: WORDS[visit.language].conflict, field: 'timeZone' } }, {});
  await moveResets(visit.services.store, user.id, visit.services.now());
  return { to: linkTo(visit, `/account/settings?done=saved&lang=${changed.language}`) };
}

async function renameByForm(visit: OwnerVisit, sent: Form): Promise<Answer> {
  if (visit.role !== 'owner') throw fault('role_not_allowed');
  const problem = await renameAccount(visit, visit.account, sent);
  if (problem !== undefined) return refused({ ...visit, refused: { sent, text: problem, field: 'name' } }, {});
  return { to: linkTo(visit, '/account/settings?done=saved') };
}

async function changePassword(visit: OwnerVisit, sent: Form): Promise<Answer> {
  const { services, signedIn, language } = visit;
  const words = WORDS[language];
  const { user } = signedIn;
  const fresh = sent.secret('password');
  const problem = findPasswordProblem(fresh, [user.email]);
  if (problem) return refused(visit, { password: passwordWords(language).problems[problem] });
  if (fresh !== sent.secret('again')) return refused(visit, { again: passwordWords(language).differs });
  const confirmed = await confirmPassword(visit, sent);
  if ('problems' in confirmed) return { ...(await refused(visit, confirmed.problems)), status: confirmed.status };
  const session = await renewSession(visit, (kept) => services.people.setPassword(user, fresh, kept));
  if (session === undefined) return refused(visit, { old: words.conflict });
  await audit(visit, { action: 'user.password', target: user.id });
  mailSignInChange(visit, user, 'password');
  return { to: linkTo(visit, '/account/settings?done=password'), session };
}

async function answerApp(visit: OwnerVisit, change: AppChange, sent: Form): Promise<Answer> {
  const outcome = await changeApp(visit, change, sent);
  if ('answer' in outcome) return outcome.answer;
  return { ...(await settingsPage(visit, {}, outcome.problem)), status: outcome.status };
}

async function endOthers(visit: OwnerVisit): Promise<Answer> {
  const { services, signedIn } = visit;
  await services.sessions.endAll(signedIn.user.id, signedIn.session.hash);
  return { to: linkTo(visit, '/account/settings?done=sessions') };
}

async function refused(visit: OwnerVisit, problems: Problem): Promise<Page> {
  return { ...(await settingsPage(visit, problems)), status: 400 };
}

/** Without hashes and secrets. */
export const exportData = page({
  path: '/account/settings/export',
  who: 'account',
  isFile: true,
  async get(visit) {
    const { services, signedIn, account } = visit;
    const { id, email, language, timeZone, createdAt, telegram } = signedIn.user;
    const [wallet, keys, alertSettings] = await Promise.all([
      mayVisit(visit, '/account/wallet') ? services.store.ledger.wallet(account.id) : undefined,
      mayVisit(visit, '/account/keys') ? listVisibleKeys(visit) : undefined,
      mayVisit(visit, '/account/settings/alerts') ? services.store.alerts.get(account.id) : undefined,
    ]);
    const data = {
      user: { id, email, language, time_zone: timeZone, telegram, created_at: new Date(createdAt).toISOString() },
      sessions: (await services.sessions.list(signedIn.user)).map(({ createdAt: at, seenAt, address, agent }) => ({
        created_at: new Date(at).toISOString(),
        seen_at: new Date(seenAt).toISOString(),
        address,
        agent,
      })),
      account: { id: account.id, name: account.name, status: account.status, role: visit.role, wallet },
      alerts: alertSettings && {
        balance_below: alertSettings.balanceBelow,
        budgets: alertSettings.budgets,
        webhook_url: alertSettings.webhook?.url ?? null,
      },
      keys: keys?.map(({ hash: _, ...key }) => key),
    };
    const content = JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? `${value}` : value), 2);
    return { type: 'application/json; charset=utf-8', name: `data-${account.id}.json`, content };
  },
});
