// Every form that is refused comes back with what was typed, on all pages of owners and operators.
import { expect } from 'chai';
import { hashToken } from '../../lib/users/token.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpTour, TOUR_ENV, type Tour } from '../../testkit/page-tour.ts';
import { makeCode, unescapeHtml } from '../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

const TYPED = 'нет"1"<2>';
/** Used once, so it is asked for again. */
const CODES = ['code', 'present'];
const isCode = (name: string, action: string) => CODES.includes(name) && action !== '/account/wallet';

interface TextForm {
  readonly html: string;
  readonly action: string;
  /** With their first values. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly texts: readonly string[];
}

function formsIn(page: string): readonly TextForm[] {
  return [...page.matchAll(/<form [^>]*method="post"[^>]*>.*?<\/form>/gs)].map(([form]) => ({
    html: form,
    action: unescapeHtml(/action="([^"]*)"/.exec(form)?.[1] ?? ''),
    hidden: Object.fromEntries(
      [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        unescapeHtml(value),
      ]),
    ),
    texts: [...form.matchAll(/<input id="[^"]*" name="([^"]+)" type="(?:text|email|date|number)"/g)].map(
      ([, name = '']) => name,
    ),
  }));
}

/** The values of the fields with this name. */
function valuesIn(page: string, name: string): readonly string[] {
  const inputs = [...page.matchAll(/<input id="[^"]*" name="([^"]+)" [^>]*?value="([^"]*)"/g)];
  return inputs.filter(([, found]) => found === name).map(([, , value = '']) => unescapeHtml(value));
}

/** Whether a place of a page is folded away. */
function isFolded(page: string, place: number): boolean {
  const around: boolean[] = [];
  for (const [tag] of page.slice(0, place).matchAll(/<details[^>]*>|<\/details>/g)) {
    if (tag === '</details>') around.pop();
    else around.push(!tag.includes(' open'));
  }
  return around.includes(true);
}

/** Wrong fields without a text that says what is wrong. */
function findMuteFields(page: string): readonly string[] {
  const wrong = [...page.matchAll(/<input id="([^"]+)"[^>]*aria-invalid="true"[^>]*>/g)];
  return wrong
    .filter(([tag, id]) => {
      const told = new RegExp(`<span class="error" id="${id}-error">[^<]+<`).test(page);
      return !told || !tag.includes(`${id}-error"`);
    })
    .map(([, id = '']) => id);
}

describe('a refused form', function () {
  this.timeout(60_000);
  let mail: MailServer;
  let test: TestGateway;
  let tour: Tour;

  before(async () => {
    mail = await startMailServer();
    test = await startGateway({ catalog: {}, env: { ...TOUR_ENV, SMTP_URL: mail.url, SECRETS_KEY: 'ab'.repeat(32) } });
    tour = await setUpTour(test);
  });
  after(async () => {
    await test?.stop();
    await mail?.stop();
  });

  it('comes back with what was typed, and says at a field what is wrong', async () => {
    const refused = new Set<string>();
    const lost: string[] = [];
    const [spilled, folded, mute]: readonly [string[], string[], string[]] = [[], [], []];
    const fieldless = new Set<string>();
    for (const { path, as } of tour.stops.filter((stop) => stop.as === 'owner' || stop.as === 'operator')) {
      const visitor = tour.visitors[as];
      const { text: page } = await visitor.get(path);
      for (const { action, hidden, texts } of formsIn(page).filter((form) => form.texts.length > 0)) {
        const typed = Object.fromEntries(texts.map((name) => [name, isCode(name, action) ? '' : TYPED]));
        // One form may take another off the page.
        const now = formsIn((await visitor.get(path)).text);
        if (!now.some((form) => form.action === action && form.hidden.change === hidden.change)) continue;
        const reply = await visitor.post(action, { ...hidden, ...typed });
        if (reply.status !== 400) continue;
        if (!reply.text.includes('aria-invalid')) fieldless.add(`${action} ${hidden.change ?? ''}`.trim());
        const form = formsIn(reply.text).find((f) => f.action === action && f.hidden.change === hidden.change);
        if (form && isFolded(reply.text, reply.text.indexOf(form.html))) folded.push(`${action} ${hidden.change}`);
        for (const id of findMuteFields(reply.text)) mute.push(`${action} ${hidden.change} ${id}`);
        refused.add(`${action.replace(/[_-][0-9a-f]{8,}/g, '')} ${hidden.change ?? ''}`.trim());
        for (const name of texts.filter((each) => !isCode(each, action)))
          if (!valuesIn(reply.text, name).includes(TYPED)) lost.push(`${action} ${hidden.change} ${name}`);
        for (const other of formsIn(reply.text)) {
          if (other.action === action && other.hidden.change === hidden.change) continue;
          // A name that was taken is shown by the form that changes it.
          if (other.hidden.change === 'rename') continue;
          if (other.texts.some((name) => valuesIn(other.html, name).includes(TYPED)))
            spilled.push(`${action} ${hidden.change} to ${other.action} ${other.hidden.change}`);
        }
      }
    }
    expect(lost).to.deep.equal([]);
    expect(spilled, 'in another form').to.deep.equal([]);
    expect(folded, 'folded away').to.deep.equal([]);
    expect(mute, 'without a text').to.deep.equal([]);
    // A choice that is missing or gone.
    expect([...fieldless]).to.have.members(['/account/wallet auto', '/admin/management-keys']);
    expect([...refused]).to.include.members(['/admin/accounts/acc topup', '/admin/catalog rate', '/account/keys']);
  });

  it('is out of date if it wants what its page does not know', async () => {
    const answers = new Map<string, number>();
    for (const { path, as } of tour.stops.filter((stop) => stop.as === 'owner' || stop.as === 'operator')) {
      const visitor = tour.visitors[as];
      for (const { action, hidden } of formsIn((await visitor.get(path)).text)) {
        const [name] = ['change', 'step'].filter((each) => hidden[each] !== undefined);
        const place = action.replace(/[_-][0-9a-f]{8,}/g, '');
        if (name === undefined || answers.has(place)) continue;
        answers.set(place, (await visitor.post(action, { ...hidden, [name]: 'nothing' })).status);
      }
    }
    const others = [...answers].filter(([, status]) => status !== 403).map(([place]) => place);
    // What they do without a word is one of their forms.
    const silent = ['/account/people/invitation', '/account/settings/alerts', '/account/wallet', '/admin/accounts'];
    expect(others).to.have.members([...silent, '/admin/alerts']);
    expect(answers.size).to.be.above(14);
  });

  it('asks for a code where it lacks a right one, and is sent with it as it was', async () => {
    const { operator } = tour.visitors;
    const path = '/admin/accounts';
    const wish = { name: 'Ромашка & "Ко"' };
    const session = hashToken(operator.cookies.get('session') ?? '');
    const now = Date.now();
    await test.store.sessions.touch(session, { seenAt: now, provenAt: now - 11 * 60_000 });
    const [opened] = formsIn((await operator.get(path)).text);
    let sent: Readonly<Record<string, string>> = { ...opened?.hidden, ...wish };
    for (const code of ['', '000000']) {
      const asked = await operator.post(path, { ...sent, code });
      const again = formsIn(asked.text).find((form) => form.texts.includes('code'));
      expect([asked.status, again?.action, again?.hidden.name]).to.deep.equal([403, path, wish.name]);
      sent = again?.hidden ?? {};
    }
    const { secret } = operator as typeof operator & { readonly secret: string };
    const done = await operator.post(path, { ...sent, code: makeCode(secret, 1) });
    expect(done.status).to.equal(303);
    expect((await operator.get(done.headers.location ?? '')).text).to.contain('Ромашка &amp; &quot;Ко&quot;');
  });

  it('never shows a typed key again where it asks for a code', async () => {
    const { operator } = tour.visitors;
    const path = '/admin/upstreams';
    const session = hashToken(operator.cookies.get('session') ?? '');
    await test.store.sessions.touch(session, { seenAt: Date.now(), provenAt: Date.now() - 11 * 60_000 });
    const empty = await operator.get(path);
    expect(empty.text, 'nothing was typed').to.not.match(/Enter the key again|Введите ключ ещё раз/);
    const [opened] = formsIn(empty.text);
    const sent = { name: 'vendor', url: 'https://vendor.example', key: 'sk-typed-secret' };
    const { status, text } = await operator.post(path, { ...opened?.hidden, ...sent });
    expect([status, text.includes(sent.key), text.includes(sent.url)]).to.deep.equal([403, false, true]);
    expect(text).to.match(/name="key" type="password"/);
    const hidden = await operator.post(path, { ...opened?.hidden, ...sent, url: `https://x.example/?key=${sent.key}` });
    expect([hidden.status, hidden.text.includes(sent.key)]).to.deep.equal([403, false]);
  });

  it('keeps a form whose code was wrong too often', async () => {
    const { operator } = tour.visitors;
    const path = '/admin/accounts';
    const session = hashToken(operator.cookies.get('session') ?? '');
    await test.store.sessions.touch(session, { seenAt: Date.now(), provenAt: Date.now() - 11 * 60_000 });
    const [opened] = formsIn((await operator.get(path)).text);
    const sent = { ...opened?.hidden, name: 'Kept for later', code: '000000' };
    let asked = await operator.post(path, sent);
    for (let times = 0; times < 30 && asked.status === 403; times += 1) asked = await operator.post(path, sent);
    const again = formsIn(asked.text).find((form) => form.texts.includes('code'));
    expect([asked.status, again?.action, again?.hidden.name]).to.deep.equal([429, path, sent.name]);
    expect(asked.text).to.match(/try again in \d+ s/i);
  });
});
