// What an owner sees of cached tokens and long prompts: prices, calls and usage, in both languages.
import { expect } from 'chai';
import { type ChatCounts, cacheCatalog, cachedChatAnswer, cachedMessageAnswer } from '../../testkit/cached-calls.ts';
import { CHAT, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOwner } from '../../testkit/pages.ts';
import { type Behaviour, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe('pages about cached tokens', () => {
  let upstream: TestUpstream;
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;
  let read = '';
  let written = '';
  let long = '';

  before(async () => {
    upstream = await startUpstream();
    test = await startGateway({ catalog: cacheCatalog(upstream.url) });
    account = await test.account('10000');
    owner = await setUpOwner(test, account.id);
    const call = async (model: string, behaviour: Behaviour) => {
      upstream.behave(behaviour);
      const body = { model, max_tokens: 2000, messages: [{ role: 'user', content: 'Hello there' }] };
      const { headers, status, text } = await send(test.url + CHAT, { key: account.key, body });
      expect(status, text).to.equal(200);
      return `/account/calls/${headers['x-request-id']}`;
    };
    read = await call('chat-a', cachedChatAnswer({ prompt: 100_000, read: 90_000, output: 1000, reasoning: 700 }));
    written = await call('message-a', cachedMessageAnswer({ input: 0, minutes: 2000, hour: 30_000, output: 500 }));
    long = await call('chat-a', cachedChatAnswer({ prompt: 300_000, read: 250_000, output: 1000 }));
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    await upstream.close();
  });

  const linesOf = async (path: string) =>
    [...(await owner.get(path)).text.matchAll(/<li>(?:<strong>)?([^<]+)(?:<\/strong>)?<\/li>/g)].map(([, line]) =>
      line?.replaceAll('\u00a0', ' '),
    );
  const textOf = async (path: string) => (await owner.get(path)).text.replaceAll('\u00a0', ' ');

  describe('in English', () => {
    before(() => owner.get('/account?lang=en'));

    it('show a line for each kind of token, and what the cache saved', async () => {
      expect(await linesOf(read)).to.include.members([
        'Input tokens: 10,000 × ₽200.00 per 1M tokens = ₽2.00',
        'Read from the cache: 90,000 × ₽20.00 per 1M tokens = ₽1.80',
        'Output tokens (of which reasoning: 700): 1,000 × ₽1,000.00 per 1M tokens = ₽1.00',
        'Total: ₽4.80',
        'Caching saved ₽16.20 compared with the input price',
      ]);
    });

    it('show what writing cost, for either time', async () => {
      const lines = await linesOf(written);
      expect(lines).to.include.members([
        'Input tokens: 0 × ₽200.00 per 1M tokens = ₽0.00',
        'Written to the cache for 5 minutes: 2,000 × ₽250.00 per 1M tokens = ₽0.50',
        'Written to the cache for 1 hour: 30,000 × ₽400.00 per 1M tokens = ₽12.00',
        'Caching cost ₽6.10 more than the input price',
      ]);
      expect(lines.join()).not.to.contain('Read from the cache').and.not.to.contain('Prices for prompts');
    });

    it('show the band and its prices', async () => {
      expect(await linesOf(long)).to.include.members([
        'Prices for prompts longer than 200,000 tokens',
        'Input tokens: 50,000 × ₽400.00 per 1M tokens = ₽20.00',
        'Read from the cache: 250,000 × ₽40.00 per 1M tokens = ₽10.00',
        'Output tokens: 1,000 × ₽1,500.00 per 1M tokens = ₽1.50',
      ]);
    });

    it('list all prices of a model', async () => {
      const prices =
        '₽200.00 input, ₽20.00 read from cache, ₽250.00 written to cache for 5 min, ₽400.00 written to cache for 1 h, ' +
        '₽1,000.00 output per 1M tokens; ' +
        'prompts longer than 200,000 tokens: ₽400.00 input, ₽40.00 read from cache, ₽1,500.00 output';
      expect(await textOf('/account/playground?kind=text')).to.contain(prices);
      // Input and output have columns of their own.
      expect((await textOf('/account/models')).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')).to.contain(
        '₽200.00 ₽1,000.00 ₽20.00 read from cache, ₽250.00 written to cache for 5 min, ' +
          '₽400.00 written to cache for 1 h per 1M tokens; ' +
          'prompts longer than 200,000 tokens: ₽400.00 input, ₽40.00 read from cache, ₽1,500.00 output',
      );
    });

    it('calculate with the cached part of a request', async () => {
      const cost = async (query: string) =>
        /<strong class="big">([^<]+)</.exec(await textOf(`/account/models?model=chat-a&answer=0&${query}`))?.[1];
      expect(await cost('characters=400000')).to.equal('₽20.00');
      expect(await cost('characters=400000&cached=360000')).to.equal('₽3.80');
      expect(await cost('characters=400000&cached=999999999')).to.equal('₽2.00');
      expect(await cost('characters=4000000&cached=4000000')).to.equal('₽40.00');
    });

    it('say what a call of the playground read from a cache', async () => {
      const { id } = await test.account();
      const visitor = await setUpOwner(test, id, 'visitor@example.com');
      const [key] = await test.store.keys.list(id);
      const fields = { kind: 'text', model: 'chat-a', prompt: 'Hello', max_tokens: '2000', key: key?.id ?? '' };
      const ask = async (counts: ChatCounts) => {
        upstream.behave(cachedChatAnswer(counts));
        const { text } = await visitor.submit('/account/playground', { do: 'send', ...fields });
        return Object.fromEntries(
          [...text.matchAll(/<dt>([^<]+)<\/dt><dd>([^<]*)<\/dd>/g)].map(([, name = '', value]) => [name, value]),
        );
      };
      await visitor.get('/account?lang=en');
      expect(await ask({ prompt: 10_000, read: 9000, output: 5 })).to.include({
        'Tokens (input, output)': '10,000, 5',
        'Read from cache': '9,000',
      });
      expect(await ask({ prompt: 10_000, output: 5 })).not.to.have.any.keys('Read from cache');
    });

    it('add cached tokens up in the usage, and in its file', async () => {
      const page = await textOf('/account/usage?by=model');
      for (const head of [
        'Input tokens',
        'Read from cache',
        'Written to cache, 5 min',
        'Written to cache, 1 h',
        'Output tokens',
        'of which reasoning',
      ])
        expect(page).to.contain(`>${head}</th>`);
      for (const count of ['60,000', '340,000', '30,000', '700']) expect(page).to.contain(`>${count}</td>`);
      const [head, ...rows] = (await owner.get('/account/usage.csv?by=model')).text.trim().split('\r\n');
      expect(head).to.equal(
        'model,calls,charged_rub,refunded_rub,tokens_input,tokens_audio,tokens_cache_read,tokens_cache_write,tokens_cache_write_1h,' +
          'tokens_output,tokens_reasoning,images,seconds,failed',
      );
      expect(rows).to.have.members([
        'chat-a,2,36.30,0.00,60000,0,340000,0,0,2000,700,0,0,0',
        'message-a,1,13.00,0.00,0,0,0,2000,30000,500,0,0,0,0',
      ]);
      const calls = (await owner.get('/account/calls.csv')).text;
      const cached = calls.split('\r\n').map((line) => line.split(',')[11]);
      expect(cached).to.include('tokens_cache_read').and.to.include('90000');
    });
  });

  it('say the same in Russian', async () => {
    await owner.get('/account?lang=ru');
    expect((await linesOf(read)).join('\n'))
      .to.contain('Прочитано из кэша: 90 000 × 20,00 ₽ за 1 млн токенов = 1,80 ₽')
      .and.to.contain('Выходные токены (из них рассуждения: 700): 1 000 ×')
      .and.to.contain('Кэш сэкономил 16,20 ₽ по сравнению с ценой входных токенов');
    expect((await linesOf(written)).join('\n'))
      .to.contain('Записано в кэш на 5 минут: 2 000 ×')
      .and.to.contain('Записано в кэш на 1 час: 30 000 ×')
      .and.to.contain('С кэшем вышло на 6,10 ₽ дороже, чем по цене входных токенов');
    expect((await linesOf(long)).join('\n')).to.contain('Цены для запросов длиннее 200 000 токенов');
    expect((await textOf('/account/models')).replaceAll(/<[^>]+>/g, '')).to.contain(
      'Вход / 1 млнВыход / 1 млнДругие цены',
    );
    expect(await textOf('/account/playground?kind=text')).to.contain(
      'вход 200,00 ₽, чтение из кэша 20,00 ₽, запись в кэш на 5 мин 250,00 ₽, запись в кэш на 1 ч 400,00 ₽, ' +
        'выход 1 000,00 ₽ за 1 млн токенов; запросы длиннее 200 000 токенов: вход 400,00 ₽, чтение из кэша 40,00 ₽, ' +
        'выход 1 500,00 ₽',
    );
    expect(await textOf('/account/usage?by=model'))
      .to.contain('Прочитано из кэша')
      .and.to.contain('из них рассуждения');
    expect(await textOf('/account/calls?model=chat-a'))
      .to.contain('101 000 ток.')
      .and.to.contain('Фильтр: 1');
  });
});
