// What an owner and an operator see of recordings: prices, calls, usage and the form of a price, in both languages.
import { expect } from 'chai';
import { askWithRecording, audioCatalog, audioChatAnswer } from '../../testkit/audio-calls.ts';
import { CHAT, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { hiddenFields, setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe('pages about recordings', () => {
  let upstream: TestUpstream;
  let test: TestGateway;
  let account: TestAccount;
  let owner: Visitor;
  let call = '';

  before(async () => {
    upstream = await startUpstream(audioChatAnswer({ prompt: 10_000, audio: 8000, output: 1000 }));
    const cost = { currency: 'USD', input: '1', audio: '8', cacheRead: '0.1', output: '5' };
    const costs = { chat: { c: cost }, contents: { g: cost } };
    test = await startGateway({ catalog: audioCatalog(upstream.url, { costs }) });
    account = await test.account('10000');
    owner = await setUpOwner(test, account.id);
    const { headers, status, text } = await send(test.url + CHAT, {
      key: account.key,
      body: askWithRecording('chat-a', 1000),
    });
    expect(status, text).to.equal(200);
    call = `/account/calls/${headers['x-request-id']}`;
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    await upstream.close();
  });

  const read = async (visitor: Visitor, path: string) => plain((await visitor.get(path)).text);
  const plain = (text: string) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');

  it('show an owner its price, its line of a call and its sum', async () => {
    await owner.get('/account?lang=en');
    const page = await read(owner, call);
    expect(page)
      .to.contain('Audio tokens: 8,000 × ₽1,200.00 per 1M tokens = ₽9.60')
      .and.to.contain('Total: ₽11.00')
      .and.to.not.contain('Caching');
    expect(await read(owner, '/account/models')).to.contain('₽1,200.00 audio, ₽20.00 read from cache');
    expect(await read(owner, '/account/usage?by=model')).to.contain('Audio tokens');
    const [head, row] = (await owner.get('/account/usage.csv?by=model')).text.split('\r\n');
    expect(head).to.contain('tokens_input,tokens_audio,tokens_cache_read');
    expect(row).to.contain('chat-a,1,11.00,0.00,2000,8000,0,');
    expect((await owner.get('/account/calls.csv')).text).to.contain('tokens_audio');
  });

  it('say the same in Russian', async () => {
    await owner.get('/account?lang=ru');
    expect(await read(owner, call)).to.contain('Токены аудио: 8 000 × 1 200,00 ₽ за 1 млн токенов = 9,60 ₽');
    expect(await read(owner, '/account/models')).to.contain(
      'аудио 1 200,00 ₽, чтение из кэша 20,00 ₽ за 1 млн токенов',
    );
    expect(await read(owner, '/account/usage?by=model')).to.contain('Токены аудио');
  });

  describe('for an operator', () => {
    const path = '/admin/catalog/model?id=chat-a';
    let operator: Visitor;
    const go = async (fields: Readonly<Record<string, string>>, page?: string) =>
      operator.post(path, { ...hiddenFields(page ?? (await operator.get(path)).text, path), ...fields });

    before(async () => {
      operator = await setUpOperator(test);
    });

    it('compare its price with the cost', async () => {
      // 1,200 for what costs 800 is the smallest margin.
      expect(await read(operator, path))
        .to.contain('₽100.00 input, ₽800.00 audio, ₽10.00 read from cache, ₽500.00 output')
        .and.to.contain('50%');
    });

    it('take a price of it, refuse one below cost and one that is none', async () => {
      const written = { kind: 'written', input: '150', output: '900' };
      expect((await operator.get(path)).text).to.contain('Audio in the prompt (RUB per 1M tokens)');
      expect((await operator.get(`${path}&lang=ru`)).text).to.contain('Аудио в запросе, ₽ за 1\u00a0млн токенов');
      await operator.get(`${path}&lang=en`);
      const none = await go({ ...written, step: 'preview' });
      expect([none.status, plain(none.text)].join()).to.match(/^400.*150\.00 RUB is below the cost of 800\.00 RUB/s);
      const wrong = await go({ ...written, audio: 'much', step: 'preview' });
      expect([wrong.status, plain(wrong.text)].join()).to.match(/^400.*Enter a price in RUB/s);
      expect(wrong.text).to.contain('value="much"');
      const wish = { ...written, audio: '1 000,5' };
      const preview = await go({ ...wish, step: 'preview' });
      expect(plain(preview.text)).to.contain('₽150.00 input, ₽1,000.50 audio, ₽900.00 output');
      expect((await go({ ...wish, step: 'save' }, preview.text)).status).to.equal(303);
      expect((await operator.get(path)).text).to.contain('value="1000.50"');
      const { json } = await send(`${test.url}/api/v1/models/chat-a`, { key: account.key });
      expect(json).to.include({ input_price_rub: 150, audio_price_rub: 1000.5, output_price_rub: 900 });
    });
  });
});
