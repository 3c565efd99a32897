// Alerts over HTTP: the settings of an owner, the secret shown once, a test alert, and alerts from two gateways.
import { expect } from 'chai';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { formFields, setUpMember, setUpOwner } from '../../testkit/pages.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';
import { answerWith, isSigned, type Receiver, startReceiver } from '../../testkit/webhook.ts';

const PATH = '/account/settings/alerts';
const SECRET = /whsec_[\w-]{43}/;

describe('the page of alerts', () => {
  let test: TestGateway;
  let receiver: Receiver;
  let images: Receiver;
  let smtp: MailServer;

  before(async () => {
    [receiver, images, smtp] = await Promise.all([startReceiver(), startReceiver(), startMailServer()]);
    test = await startGateway({
      catalog: { upstreams: {}, models: [] },
      env: { WEBHOOK_TRUSTED_ORIGINS: receiver.origin, IMAGE_TRUSTED_ORIGINS: images.origin, SMTP_URL: smtp.url },
      timings: { alertsEveryMs: 20 },
    });
  });
  after(async () => {
    await test?.stop();
    await Promise.all([receiver.stop(), images.stop(), smtp.stop()]);
  });
  afterEach(() => {
    receiver.answer = answerWith(200);
  });

  type Owner = Awaited<ReturnType<typeof comeIn>>;

  async function comeIn(rub = '1000') {
    const { id } = await test.account(rub);
    return { ...(await setUpOwner(test, id)), account: id };
  }
  const save = (owner: Owner, fields: Record<string, string>) =>
    owner.submit(PATH, { change: 'wishes', threshold: '', webhook: '', ...fields });
  const hook = () => `${receiver.origin}/hook-of-mine`;
  const postsTo = ({ account }: Owner) => receiver.posts.filter(({ json }) => json.account === account);

  it('is linked from the settings', async () => {
    expect((await (await comeIn()).get('/account/settings')).text).to.contain(`href="${PATH}"`);
  });

  it('posts nothing to addresses that only images may be fetched from, not even for a stored webhook', async () => {
    const owner = await comeIn('10');
    const refused = await save(owner, { threshold: '500', webhook: `${images.origin}/hook` });
    expect(refused.status).to.equal(400);
    await save(owner, { webhook: hook() });
    const wishes = await test.store.alerts.get(owner.account);
    if (!wishes) throw new Error('nothing is stored');
    const webhook = { url: `${images.origin}/hook`, secret: 'x'.repeat(20) };
    await test.store.alerts.change({ ...wishes, balanceBelow: 600_000_000n, webhook });
    await until(async () => (await owner.get(PATH)).text.includes('no answer'), 20_000);
    expect(images.posts).to.deep.equal([]);
  });

  it('saves a threshold and a webhook, and shows its secret once', async () => {
    const owner = await comeIn();
    const made = await save(owner, { threshold: '1 500,50', webhook: hook() });
    const [secret = ''] = SECRET.exec(made.text) ?? [];
    expect([made.status, secret === '']).to.deep.equal([200, false]);
    expect(await test.store.alerts.get(owner.account)).to.deep.equal({
      account: owner.account,
      balanceBelow: 1_500_500_000n,
      budgets: false,
      webhook: { url: hook(), secret },
      version: 1,
    });
    const later = await owner.get(PATH);
    expect(later.text).to.contain('value="1500.50"').and.contain(`value="${hook()}"`).and.not.match(SECRET);
    const again = await save(owner, { threshold: '1', webhook: `${hook()}/2` });
    expect([again.status, again.headers.location]).to.deep.equal([303, `${PATH}?done=saved`]);
    expect((await test.store.alerts.get(owner.account))?.webhook).to.deep.equal({ url: `${hook()}/2`, secret });
    const [row] = await test.store.auditLog.page({ limit: 1, account: owner.account });
    expect(row).to.include({ action: 'alerts.change', target: owner.account });
    expect(row?.detail).to.equal(
      JSON.stringify({ threshold: '1.00', budgets: false, webhook: new URL(receiver.origin).host }),
    );
    const { text, json } = await owner.get('/account/settings/export');
    expect(text).not.to.match(SECRET);
    expect(json.alerts).to.deep.equal({ balance_below: '1000000', budgets: false, webhook_url: `${hook()}/2` });
  });

  it('changes only what was changed in a form, which another owner may have opened before', async () => {
    const owner = await comeIn();
    const open = async () => formFields((await owner.get(PATH)).text, PATH);
    const [mine, theirs] = [await open(), await open()];
    const [secret] = SECRET.exec((await owner.post(PATH, { ...theirs, webhook: hook(), budgets: '' })).text) ?? [];
    // Refused once, and then as it is shown again.
    const refused = await owner.post(PATH, { ...mine, threshold: 'x' });
    expect(refused.status).to.equal(400);
    const again = { ...formFields(refused.text, PATH), threshold: '500' };
    expect((await owner.post(PATH, again)).status).to.equal(303);
    expect(await test.store.alerts.get(owner.account)).to.deep.include({
      balanceBelow: 500_000_000n,
      budgets: false,
      webhook: { url: hook(), secret },
    });
    expect((await owner.post(PATH, { ...(await open()), webhook: '' })).status).to.equal(303);
    expect((await test.store.alerts.get(owner.account))?.webhook).to.equal(null);
  });

  it('warns on every page of an account whose balance is below the threshold, but nobody who sees no money', async () => {
    const owner = await comeIn();
    const pages = ['/account', '/account/keys', '/account/calls'];
    const warned = async (visitor: Owner) =>
      Promise.all(pages.map(async (page) => (await visitor.get(page)).text.includes('The balance is low: ₽1,000.00')));
    expect(await warned(owner)).to.deep.equal([false, false, false]);
    await save(owner, { threshold: '1000' });
    expect(await warned(owner)).to.deep.equal([false, false, false]);
    await save(owner, { threshold: '1000.01' });
    expect(await warned(owner)).to.deep.equal([true, true, true]);
    expect((await owner.get('/account?lang=ru')).text).to.contain('Баланс заканчивается');
    const member = await setUpMember(test, { account: owner.account, role: 'member' });
    expect(await warned({ ...member, account: owner.account })).to.deep.equal([false, false, false]);
  });

  it('renews the secret, and removes the webhook', async () => {
    const owner = await comeIn();
    const [first] = SECRET.exec((await save(owner, { webhook: hook() })).text) ?? [];
    const [second] = SECRET.exec((await owner.submit(PATH, { change: 'secret' })).text) ?? [];
    expect(second).to.be.a('string').and.not.equal(first);
    expect((await test.store.alerts.get(owner.account))?.webhook?.secret).to.equal(second);
    const rows = await test.store.auditLog.page({ limit: 2, account: owner.account });
    expect(rows.map(({ action }) => action)).to.deep.equal(['alerts.secret', 'alerts.change']);
    expect(JSON.stringify(rows)).not.to.match(SECRET);
    await save(owner, {});
    expect(await test.store.alerts.get(owner.account)).to.include({ balanceBelow: null, webhook: null });
    expect((await owner.submit(PATH, { change: 'secret' })).status).to.equal(303);
  });

  it('refuses invalid sums and addresses that are not public, and keeps the input', async () => {
    const owner = await comeIn();
    for (const threshold of ['0', '-5', 'much', '1e3', '1.2345678', '2000000000']) {
      const reply = await save(owner, { threshold });
      expect([reply.status, reply.text.includes('amount above zero')], threshold).to.deep.equal([400, true]);
      expect(reply.text).to.contain(`value="${threshold}"`);
    }
    const urls = [
      'http://example.com/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://localhost/x',
      'ftp://a.example.com/',
    ];
    const more = [
      'https://a:b@example.com/',
      'https://example.com:8443/',
      'https://169.254.169.254/',
      `${test.url}/api`,
      'x',
    ];
    for (const webhook of [...urls, ...more, `https://example.com/${'x'.repeat(3000)}`]) {
      const reply = await save(owner, { webhook });
      expect([reply.status, reply.text.includes('a public https URL on port 443')], webhook).to.deep.equal([400, true]);
    }
    expect(await test.store.alerts.get(owner.account)).to.equal(undefined);
  });

  it('sends a signed test and shows its result', async () => {
    const owner = await comeIn();
    const [secret = ''] = SECRET.exec((await save(owner, { webhook: hook() })).text) ?? [];
    const sent = await owner.submit(PATH, { change: 'test' });
    expect([sent.status, sent.headers.location]).to.deep.equal([303, `${PATH}?done=tested`]);
    const [post] = postsTo(owner);
    expect(post?.json).to.include({ type: 'test' });
    expect(post && isSigned(post, secret)).to.equal(true);
    expect((await smtp.letterTo(owner.email)).text).to.contain('This is a test');
    expect((await owner.get(PATH)).text).to.match(/>webhook<\/td><td[^>]*>delivered<\/td>/);
    receiver.answer = answerWith(500);
    await owner.submit(PATH, { change: 'test' });
    expect((await owner.get(PATH)).text).to.contain('not delivered: HTTP status 500');
    expect((await owner.get(`${PATH}?lang=ru`)).text)
      .to.contain('не доставлено: статус HTTP 500')
      .and.contain('Отправить тестовое оповещение');
  });

  it('limits tests', async () => {
    const owner = await comeIn();
    await save(owner, { webhook: hook() });
    const statuses: number[] = [];
    for (let times = 0; times < 12; times += 1) statuses.push((await owner.submit(PATH, { change: 'test' })).status);
    expect(statuses).to.deep.equal([...Array(10).fill(303), 429, 429]);
    expect(postsTo(owner)).to.have.length(10);
  });

  it('is for owners of the account only, and refuses foreign forms', async () => {
    const owner = await comeIn();
    const stranger = await comeIn();
    const path = `${PATH}?account=${owner.account}`;
    expect((await stranger.get(path)).status).to.equal(404);
    const csrf = /name="csrf" value="([^"]+)"/.exec((await stranger.get(PATH)).text)?.[1] ?? '';
    for (const change of ['wishes', 'secret', 'test']) {
      const fields = { change, threshold: '5', webhook: hook() };
      expect((await stranger.post(path, { csrf, ...fields })).status, change).to.equal(404);
      expect((await owner.post(PATH, fields)).status, 'without a token').to.equal(403);
      expect((await owner.post(PATH, { csrf, ...fields })).status, "with another's token").to.equal(403);
      const own = await owner.submit(PATH, fields, { headers: { origin: 'https://evil.example' } });
      expect(own.status, 'from another site').to.equal(403);
    }
    expect(await test.store.alerts.get(owner.account)).to.equal(undefined);
    expect([postsTo(owner), postsTo(stranger)]).to.deep.equal([[], []]);
  });

  it('triggers one alert from two gateways, and the next after a top-up', async () => {
    const owner = await comeIn('1000');
    const other = await startGateway({
      catalog: { upstreams: {}, models: [] },
      env: { WEBHOOK_TRUSTED_ORIGINS: receiver.origin, SMTP_URL: smtp.url },
      timings: { alertsEveryMs: 20 },
      folder: test.folder,
    });
    const letters = () => smtp.letters.filter(({ to }) => to === owner.email);
    await save(owner, { threshold: '1200', webhook: hook() });
    await until(() => letters().length > 0 && postsTo(owner).length > 0);
    await new Promise((resolve) => setTimeout(resolve, 400));
    const id = owner.account;
    const topup = { kind: 'topup', wallet: id, at: Date.now(), amount: 100_000_000n, paymentId: `late-${id}` } as const;
    expect([letters().length, postsTo(owner).length]).to.deep.equal([1, 1]);
    await test.store.ledger.apply([topup]);
    await until(() => letters().length > 1 && postsTo(owner).length > 1);
    await new Promise((resolve) => setTimeout(resolve, 400));
    await other.stop();
    expect(postsTo(owner).map(({ json }) => json.data.balance)).to.deep.equal(['1000.00', '1100.00']);
    expect(letters()).to.have.length(2);
    await until(async () =>
      />Balance<\/td><td[^>]*>webhook<\/td><td[^>]*>delivered<\/td>/.test((await owner.get(PATH)).text),
    );
  });
});

describe('the page of alerts without a mail server', () => {
  it('says that alerts have nowhere to go until there is a webhook', async () => {
    const test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    const { id } = await test.account();
    const owner = await setUpOwner(test, id);
    const bare = await owner.get(PATH);
    expect(bare.text).to.contain('sends no email').and.contain('nowhere to go').and.not.contain('Send a test alert');
    const csrf = /name="csrf" value="([^"]+)"/.exec(bare.text)?.[1] ?? '';
    expect((await owner.post(PATH, { csrf, change: 'test' })).status).to.equal(400);
    await owner.submit(PATH, { change: 'wishes', threshold: '', webhook: 'https://hooks.tollgate-example.com/' });
    expect((await owner.get(PATH)).text).to.contain('Send a test alert');
    await test.stop();
  });
});
