// The page of a call: its facts in both languages.
import { expect } from 'chai';
import { CHAT, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, unescapeHtml, type Visitor } from '../../testkit/pages.ts';
import { applied, newAttempt, newId, reserve, settle } from '../contract/store/context.ts';
import { png } from '../media/sample-images.ts';

describe('the page of a call', () => {
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account();
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  it('has the call as JSON, folded, and names upstreams to operators only', async () => {
    const body = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 20 };
    const { headers } = await send(`${test.url}${CHAT}`, { key: account.key, body });
    const id = String(headers['x-request-id']);
    const readJson = async (visitor: Visitor, path: string) => {
      const { text } = await visitor.get(path);
      const [, json = ''] = /<summary>JSON<\/summary>\s*<pre tabindex="0"><code data-copy>([^<]+)</.exec(text) ?? [];
      return JSON.parse(unescapeHtml(json));
    };
    const record = await readJson(owner, `/account/calls/${id}?lang=ru`);
    expect(record).to.include({ request_id: id, model: 'sandbox-lite', state: 'settled', charged_rub: 0.5 });
    expect(record.entries.map(({ kind }: { kind: string }) => kind)).to.deep.equal(['reserve', 'settle']);
    expect(record).to.not.have.property('attempts');
    const operator = await setUpOperator(test);
    const whole = await readJson(operator, `/admin/ledger?id=${id}`);
    expect(whole).to.deep.include(record);
    expect(whole.attempts[0]).to.include({ upstream: 'sandbox', ending: 'answered' });
    await owner.get('/account?lang=en');
  });

  it('shows the requested and answering model, the choice of smart, and the ending', async () => {
    const image = `data:image/png;base64,${png({ width: 40, height: 30 }).toString('base64')}`;
    const look = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: image } },
    ];
    const ask = async (model: string, content: unknown, more: object = {}) => {
      const body = { model, messages: [{ role: 'user', content }], ...more };
      const { headers } = await send(`${test.url}${CHAT}`, { key: account.key, body });
      return `/account/calls/${headers['x-request-id']}`;
    };
    const failed = await ask('sandbox-lite', '[[fail]]');
    const readFacts = async (path: string) => {
      const rows = (await owner.get(path)).text.matchAll(/<dt>([^<]+)<\/dt><dd>([^<]*)<\/dd>/g);
      return Object.fromEntries([...rows].map(([, name = '', value]) => [name, value]));
    };
    const readOutcome = async (path: string) =>
      /class="outcome">(.*?)<\/p>/s.exec((await owner.get(path)).text)?.[1]?.replace(/<[^>]+>/g, '');
    const smart = await ask('smart', 'Translate into French: tree');
    expect(await readFacts(smart)).to.include({
      'Requested model': 'smart',
      'Answered by': 'sandbox-lite',
      'Billed as': 'sandbox-lite',
    });
    expect(await readOutcome(smart)).to.equal('sandbox-lite · answered in full ₽0.50');
    expect((await readFacts(smart))['How smart chose']).to.match(/^simple task \(lite\): .*translation/);
    expect((await readFacts(`${smart}?lang=ru`))['Выбор smart']).to.match(/^простая задача \(lite\): .*перевод/);
    await owner.get('/account?lang=en');
    expect(await readFacts(await ask('sandbox-standard', look))).to.include({
      'Answered by': 'sandbox-vision',
      'Billed as': 'sandbox-standard',
    });
    expect(await readOutcome(await ask('sandbox-lite', 'Hello!', { max_tokens: 3 }))).to.equal(
      'sandbox-lite · answer cut off: max_tokens limit reached ₽0.50',
    );
    expect(await readOutcome(await ask('sandbox-lite', '[[fail-mid]]', { stream: true }))).to.equal(
      'sandbox-lite · the provider failed midway; the delivered part is charged ₽0.50',
    );
    const embedding = await send(`${test.url}/api/v1/embeddings`, {
      key: account.key,
      body: { model: 'sandbox-embedding', input: 'word '.repeat(20_000) },
    });
    const vectorPage = `/account/calls/${embedding.headers['x-request-id']}`;
    expect(await readFacts(vectorPage)).to.include({ Type: 'embeddings' });
    expect(await readOutcome(vectorPage)).to.equal('sandbox-embedding · done ₽0.80');
    const { text } = await owner.get(vectorPage);
    expect(text).to.contain('<li>Input tokens: 20,000 × ₽40.00 per 1M tokens = ₽0.80</li>');
    expect(text).to.not.contain('Output tokens');
    expect(await readFacts(failed)).to.include({ Status: 'failed, not charged' });
    expect(await readOutcome(failed)).to.equal('sandbox-lite · the provider failed; try again ₽0.00');
    expect(await readOutcome(`${failed}?lang=ru`)).to.match(
      /^sandbox-lite · сбой провайдера; повторите запрос 0,00.₽$/,
    );
    await owner.get('/account?lang=en');
  });

  it('counts the time from the call, not from the attempt that answered', async () => {
    const path = (id: string) => `/account/calls/${id}`;
    const at = Date.now() - 60_000;
    const [second, early] = [newId('req'), newId('req')];
    await applied(
      test.store,
      reserve(account.id, { chargeId: second, at, key: account.keyId }),
      settle(account.id, second, {
        at: at + 4000,
        attempts: [
          newAttempt({ at, ending: 'failed', certainty: 'none', cost: null, firstMs: null, totalMs: 500 }),
          newAttempt({ at: at + 1000, firstMs: 530, totalMs: 3000 }),
        ],
      }),
      reserve(account.id, { chargeId: early, at, key: account.keyId }),
      settle(account.id, early, { at: at + 4000, attempts: [newAttempt({ at: at - 1000, firstMs: 200 })] }),
    );
    const { text } = await owner.get(path(second));
    expect(text).to.match(/<dt>Duration<\/dt><dd>4\ss<.*<dt>Time to first fragment<\/dt><dd>1\.53\ss</s);
    const bars = [...text.matchAll(/<rect class="(\w+)" x="([\d.]+)" width="([\d.]+)"/g)].map((bar) => bar.slice(1));
    expect(bars).to.deep.equal([
      ['whole', '0.00', '12.50'],
      ['waits', '0.00', '12.50'],
      ['whole', '25.00', '75.00'],
      ['waits', '25.00', '13.25'],
    ]);
    expect((await owner.get(path(early))).text, 'clocks differ').to.match(/first fragment<\/dt><dd>0\ss</);
  });

  it('shows the calculation for images and seconds', async () => {
    const pay = async (path: string, body: object) => {
      const { headers } = await send(`${test.url}/api/v1${path}`, { key: account.key, body });
      return (await owner.get(`/account/calls/${headers['x-request-id']}`)).text;
    };
    const image = await pay('/images/generations', { prompt: 'A red square' });
    expect(image).to.contain('<li>Images: 1 × ₽5.00 = ₽5.00</li>');
    expect(image, 'all of it was charged').to.contain('<dt>Held</dt><dd>₽5.00</dd>');
    expect(image, 'one provider answered').to.not.contain('<h2>Attempts');
    const wish = { model: 'sandbox-video', prompt: 'Waves', seconds: 4, resolution: '480p' };
    const video = await pay('/videos', wish);
    expect(video).to.contain('<li>Resolution: 480p</li><li>Seconds: 4 × ₽4.00 = ₽16.00</li>');
  });
});
