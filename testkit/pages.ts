// A person using a gateway's pages: keeps cookies, follows no redirect automatically, fills in forms as they are.
import { Secret, TOTP } from 'otpauth';
import type { Membership } from '../lib/store/ports/users.ts';
import { hashPassword } from '../lib/users/password.ts';
import { createPeople } from '../lib/users/people.ts';
import { createSessions } from '../lib/users/sessions.ts';
import { type Reply, type SendOptions, send } from './client.ts';
import type { TestGateway } from './gateway.ts';
import { encodeForm, FORM_TYPE, type FormPart } from './images.ts';

export interface Visitor {
  /** Cookies set by the service, by name. */
  readonly cookies: ReadonlyMap<string, string>;
  get(path: string, options?: SendOptions): Promise<Reply>;
  /** Opens the page, takes its hidden fields from the form with this action (the page's own path if absent), and sends it. */
  submit(path: string, fields: Readonly<Record<string, string>>, options?: SubmitOptions): Promise<Reply>;
  /** Like `submit`, with files: sent as a multipart form. */
  upload(path: string, parts: readonly FormPart[], options?: SubmitOptions): Promise<Reply>;
  /** Sends parts as they are. */
  send(path: string, parts: readonly FormPart[], headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Sends fields as they are. */
  post(path: string, fields: Readonly<Record<string, string>>, options?: SendOptions): Promise<Reply>;
}

interface SubmitOptions extends SendOptions {
  /** Where the form leads, if not to the page itself. */
  readonly action?: string;
}

export function createVisitor(url: string, { session }: { readonly session?: string } = {}): Visitor {
  const cookies = new Map(session === undefined ? [] : [['session', session]]);

  async function ask(path: string, options: SendOptions): Promise<Reply> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie !== '' && { cookie }), ...options.headers };
    const reply = await send(`${url}${path}`, { ...options, headers });
    for (const line of reply.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return reply;
  }

  const post: Visitor['post'] = (path, fields, options = {}) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(fields).toString();
    return ask(path, { ...options, method: 'POST', body, headers: { ...type, ...options.headers } });
  };

  const sendParts: Visitor['send'] = (path, parts, headers = {}) =>
    ask(path, { method: 'POST', body: encodeForm(parts), headers: { 'content-type': FORM_TYPE, ...headers } });

  return {
    cookies,
    get: (path, options = {}) => ask(path, options),
    post,
    async upload(path, parts, { action = path, ...options } = {}) {
      const hidden = Object.entries(hiddenFields((await ask(path, {})).text, action));
      const kept = hidden.filter(([name]) => parts.every((part) => part.name !== name));
      return sendParts(action, [...kept.map(([name, content]) => ({ name, content })), ...parts], options.headers);
    },
    send: sendParts,
    async submit(path, fields, { action = path, ...options } = {}) {
      const page = await ask(path, {});
      return post(action, { ...hiddenFields(page.text, action), ...fields }, options);
    },
  };
}

/** The hidden fields of the form that leads there. */
export function hiddenFields(html: string, action: string): Readonly<Record<string, string>> {
  const fields = [...findForm(html, action).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name, value = '']) => [name, unescapeHtml(value)]));
}

function findForm(html: string, action: string): string {
  const escaped = action.replaceAll('&', '&amp;');
  const forms = [...html.matchAll(/<form [^>]*method="post"[^>]*>[\s\S]*?<\/form>/g)].map(([form]) => form);
  const form = forms.find((text) => text.includes(`action="${escaped}"`));
  if (form === undefined) throw new Error(`the page has no form that leads to ${action}`);
  return form;
}

/** What a browser sends of the form that leads there if nobody changes it. */
export function formFields(html: string, action: string): Readonly<Record<string, string>> {
  const form = findForm(html, action);
  const readAttribute = (tag: string, name: string) =>
    unescapeHtml(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
  const inputs = [...form.matchAll(/<input [^>]*>/g)].map(([tag]) => tag);
  const sent = inputs.filter((tag) => !/ type="(?:checkbox|radio)"/.test(tag) || / checked/.test(tag));
  const chosen = [...form.matchAll(/<select [^>]*>[\s\S]*?<\/select>/g)].map(([select]) => {
    const options = [...select.matchAll(/<option [^>]*>/g)].map(([tag]) => tag);
    return [select, options.find((tag) => / selected/.test(tag)) ?? options[0] ?? ''] as const;
  });
  const pairs = [...sent.map((tag) => [tag, tag] as const), ...chosen];
  return Object.fromEntries(
    pairs.map(([named, valued]) => [readAttribute(named, 'name'), readAttribute(valued, 'value')]),
  );
}

/** What a browser makes of an escaped text. */
export function unescapeHtml(html: string): string {
  const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => names[name] ?? '');
}

export const PASSWORD = 'tulip rain oak lamp';

/** What the authenticator app shows now, or this many steps from now. */
export function makeCode(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
}

/** Somebody who came in by the setup link: an operator, with the app's secret. */
export async function setUpOperator(
  test: TestGateway,
  email = 'op@example.com',
): Promise<Visitor & { secret: string }> {
  const link = test.gateway.facts.links.setup ?? '';
  return comeIn(test, link, { email });
}

/** Follows a one-time link and fills in its form. */
export async function comeIn(
  { url }: Pick<TestGateway, 'url'>,
  link: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Visitor & { secret: string }> {
  const visitor = createVisitor(url);
  const { pathname, search } = new URL(link);
  const path = pathname + search;
  const page = await visitor.get(path);
  const { secret = '' } = hiddenFields(page.text, path);
  const proof: Record<string, string> = secret === '' ? {} : { secret, code: makeCode(secret) };
  const reply = await visitor.submit(path, {
    password: PASSWORD,
    again: PASSWORD,
    ...proof,
    ...fields,
  });
  if (reply.status !== 200 && reply.status !== 303)
    throw new Error(`the link was answered ${reply.status}: ${reply.text}`);
  return { ...visitor, secret };
}

/** Made once: it takes a while. */
let hashed: Promise<string> | undefined;

/** An owner of an account with a password and a session, as after an invitation. */
export async function setUpOwner(
  { store, url }: Pick<TestGateway, 'store' | 'url'>,
  account: string,
  email = `owner-${account}@example.com`,
): Promise<Visitor & { email: string }> {
  hashed ??= hashPassword(PASSWORD);
  const user = await createPeople({ store }).addGuest(email, account, 'en');
  const changed = await store.users.change({ ...user, password: await hashed });
  if (!changed) throw new Error(`there is a user ${email} already`);
  const session = await createSessions({ store }).open(user, { address: '127.0.0.1', agent: '' });
  return { ...createVisitor(url, { session }), email };
}

/** Somebody with another role in an account that has an owner. */
export async function setUpMember(
  test: Pick<TestGateway, 'store' | 'url'>,
  membership: Omit<Membership, 'user'>,
  email = `${membership.role}-${membership.account}@example.com`,
): Promise<Visitor & { email: string; id: string }> {
  const visitor = await setUpOwner(test, membership.account, email);
  const id = (await test.store.users.find(email))?.id ?? '';
  const changed = await test.store.users.setMembership({ ...membership, user: id }, Date.now());
  if (changed !== 'done') throw new Error(`the role of ${email} was not changed: ${changed}`);
  return { ...visitor, id };
}
