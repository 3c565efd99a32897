// The customers for an operator: find one, create an account, or invite somebody.
import { fault } from '../../base/faults.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { readEmail } from '../../users/people.ts';
import { accountNameWords } from '../account-name.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { field, form, message } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Page, page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { customerList, findByExactId } from './customer-table.ts';
import { sendLink } from './link-request.ts';

const WORDS = defineWords({
  en: {
    title: 'Customers',
    name: 'Name',
    make: 'New account',
    makeButton: 'Create',
    invite: 'Invite a user',
    inviteText: 'With the link, a new user sets a password and gets an account with a zero balance.',
    email: 'Email',
    inviteButton: 'Create a link',
    link: (email: string) => `Send this link to ${email}. It works once, expires in a week, and is shown only now.`,
    mailed: (email: string) => `An email with this link was sent to ${email}. It works once and expires in a week.`,
    badEmail: 'Enter a valid email address.',
    taken: 'A user with this email already exists.',
  },
  ru: {
    title: 'Клиенты',
    name: 'Название',
    make: 'Новый аккаунт',
    makeButton: 'Создать',
    invite: 'Пригласить пользователя',
    inviteText: 'По ссылке пользователь задаст пароль и получит аккаунт с нулевым балансом.',
    email: 'Почта',
    inviteButton: 'Создать ссылку',
    link: (email: string) =>
      `Отправьте ссылку на ${email}. Она сработает один раз в течение недели и больше не будет показана.`,
    mailed: (email: string) => `Письмо с этой ссылкой отправлено на ${email}. Она сработает один раз в течение недели.`,
    badEmail: 'Введите корректный адрес почты.',
    taken: 'Пользователь с такой почтой уже есть.',
  },
});

export const adminAccounts = page({
  path: '/admin/accounts',
  who: 'operator',
  async get(visit) {
    const to = await findByExactId(visit);
    return to === undefined ? accountsPage(visit, {}) : { to };
  },
  async post(visit, sent) {
    if (sent.text('change') === 'invite') return invite(visit, sent);
    try {
      const { id, name } = await visit.services.accounts.create(sent.text('name'));
      await audit(visit, { action: 'account.create', target: id, account: id, detail: { name } });
      return { to: `/admin/accounts/${id}` };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      return { ...(await accountsPage(visit, { badName: sent.text('name') })), status: 400 };
    }
  },
});

/** Invites a new user, who gets an account of their own. */
async function invite(visit: UserVisit, sent: Form): Promise<Page> {
  const { services, language } = visit;
  const words = WORDS[language];
  if (services.registration === 'closed') throw fault('stale_form');
  const email = readEmail(sent.text('email'));
  const problem = email === undefined ? words.badEmail : (await services.store.users.find(email)) && words.taken;
  if (email === undefined || problem !== undefined)
    return { ...(await accountsPage(visit, { badEmail: { email: sent.text('email'), problem } })), status: 400 };
  const token = await services.people.makeLink({ purpose: 'invite', email });
  await audit(visit, { action: 'user.invite', target: email });
  const linkEmail = { kind: 'invite', email, token, purpose: 'invite' } as const;
  const isMailed = await sendLink(visit, linkEmail).catch((err: unknown) => {
    services.log.error({ err }, 'could not send an email');
    return false;
  });
  const link = `${services.publicUrl()}/setup?token=${token}`;
  return accountsPage(visit, { invited: { text: (isMailed ? words.mailed : words.link)(email), link } });
}

interface PageState {
  readonly badName?: string;
  readonly badEmail?: { readonly email: string; readonly problem: string | undefined };
  readonly invited?: { readonly text: string; readonly link: string };
}

async function accountsPage(visit: UserVisit, { badName, badEmail, invited }: PageState): Promise<Page> {
  const words = WORDS[visit.language];
  const { services } = visit;
  const error = badName === undefined ? undefined : accountNameWords(visit).bad;
  const make = form(visit, {
    action: '/admin/accounts',
    fields: html`${field({ name: 'name', label: words.name, value: badName, error })}${codeField(visit)}`,
    button: words.makeButton,
  });
  const body = html`${error !== undefined && message('error', error)}
${invited && message('done', html`${invited.text}<br><code class="key" data-copy>${invited.link}</code>`)}
${await customerList(visit)}
<h2>${words.make}</h2>${make}
${services.registration !== 'closed' && inviteForm(visit, badEmail)}`;
  return { title: words.title, body };
}

function inviteForm(visit: UserVisit, { email, problem }: { email?: string; problem?: string | undefined } = {}): Html {
  const words = WORDS[visit.language];
  const fields = html`<input type="hidden" name="change" value="invite">
${field({ name: 'email', label: words.email, type: 'email', value: email, error: problem })}${codeField(visit, 'invite')}`;
  return html`<h2>${words.invite}</h2><p>${words.inviteText}</p>
${form(visit, { action: '/admin/accounts', fields, button: words.inviteButton })}`;
}
