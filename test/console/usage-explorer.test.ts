// The usage page: periods, bars by hour, day or month, stacked by model or key, beside the period before; and rows that
// lead one level deeper, at last to the calls.
import { expect } from 'chai';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { periodLinks } from '../../lib/console/pages/usage-explorer.ts';
import { countMinimum } from '../../lib/console/pages/usage-minimum.ts';
import { chooseUnit, listMonthSlots } from '../../lib/console/time-slots.ts';
import { TEXT_MINIMUM } from '../../lib/money/price.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpMember, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { applied, giveBack, newId, RUB, reserve, settle } from '../contract/store/context.ts';

describe('the bars of the usage page', () => {
  it('are hours of few days, days of some, and months of many', () => {
    expect([1, 2, 3, 92, 93, 800].map((days) => chooseUnit(null, days))).to.deep.equal([
      ...['hour', 'hour', 'day', 'day', 'month', 'month'],
    ]);
    expect(chooseUnit('hour', 16)).to.equal('hour');
    expect(chooseUnit('hour', 17)).to.equal('day');
    expect([chooseUnit('day', 124), chooseUnit('day', 125)]).to.deep.equal(['day', 'month']);
    expect(chooseUnit('day', 401)).to.equal('month');
    expect(chooseUnit('month', 1)).to.equal('month');
  });

  it('cut the first and the last month', () => {
    const slots = listMonthSlots('2026-10-30', '2026-12-02', 'UTC');
    expect(slots.map(({ day, from, to }) => [day, (to - from) / DAY_MS])).to.deep.equal([
      ['2026-10-30', 2],
      ['2026-11-01', 30],
      ['2026-12-01', 2],
    ]);
  });

  it('of ten years do not ask for the clocks of each of its days', () => {
    const real = Intl.DateTimeFormat.prototype.formatToParts;
    let asked = 0;
    Intl.DateTimeFormat.prototype.formatToParts = function count(at) {
      asked += 1;
      return real.call(this, at);
    };
    try {
      expect(listMonthSlots('2016-12-15', '2026-11-30', 'Europe/Moscow')).to.have.length(120);
    } finally {
      Intl.DateTimeFormat.prototype.formatToParts = real;
    }
    expect(asked).to.be.within(120, 400);
  });
});

describe('the periods of the usage page', () => {
  it('mark one of them, also on a day on which two of them are the same', () => {
    const marked = (now: string, first: string) => {
      const clock = { services: { now: () => Date.parse(now) }, language: 'en', zone: 'UTC', path: '/', query: '' };
      const { text: markup } = periodLinks(clock as never, { first, last: now.slice(0, 10) } as never);
      return [...markup.matchAll(/aria-current="true">([^<]*)</g)].map(([, name]) => name);
    };
    expect(marked('2026-11-30T12:00:00Z', '2026-11-01')).to.deep.equal(['30 days']);
    expect(marked('2026-11-01T12:00:00Z', '2026-11-01')).to.deep.equal(['Today']);
    expect(marked('2026-11-29T12:00:00Z', '2026-11-01')).to.deep.equal(['This month']);
    expect(marked('2026-11-29T12:00:00Z', '2026-11-03')).to.deep.equal([]);
  });
});

describe('the usage page', () => {
  let test: TestGateway;
  let owner: Visitor;
  let account: string;
  let key: string;
  let today: string;
  let ira: Visitor;
  const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = (await test.account()).id;
    owner = await setUpOwner(test, account);
    const user = await test.store.users.find('owner@example.com');
    if (user) await test.store.users.change({ ...user, timeZone: 'UTC' });
    [{ id: key = '' } = {}] = await test.store.keys.list(account);
    today = ago(0);
    const call = async (days: number, model: string, amount: bigint | undefined) => {
      const at = Date.parse(ago(days)) + HOUR_MS;
      const chargeId = newId('req');
      const start = { ...reserve(account, { chargeId, at, key, amount: 90n * RUB }), model };
      const end =
        amount === undefined
          ? giveBack('release', account, chargeId, { at })
          : settle(account, chargeId, { at, amount });
      await applied(test.store, start as typeof end, end);
    };
    await call(0, 'model-a', 30n * RUB);
    await call(1, 'model-a', 5n * RUB);
    await call(1, 'model-b', 4n * RUB);
    await call(1, 'model-b', undefined);
    await call(3, 'model-a', 3n * RUB);
  });
  after(() => test.stop());

  const read = async (query: string) => (await owner.get(`/account/usage?${query}`)).text.replace(/\s+/g, ' ');
  const links = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

  it('has a place for every day, stacks models, and counts failures', async () => {
    const text = await read(`from=${ago(3)}&to=${today}`);
    expect([...text.matchAll(/class="place"/g)]).to.have.length(4);
    expect(text).to.match(
      /<li><span class="swatch s1"><\/span>model-a<\/li><li><span class="swatch s2"><\/span>model-b/,
    );
    expect(text)
      .to.match(/Failed<\/dt><dd>1 \(20%\)/)
      .and.to.match(/Average price of a call<\/dt><dd>₽8\.40/);
    expect(text).to.match(/Total<\/strong><\/td><td[^>]*>5<\/td><td[^>]*>₽42\.00/);
  });

  it('leads from a day to its hours, and from an hour to its calls', async () => {
    const days = links(await read(`from=${ago(3)}&to=${today}`), /<a href="([^"]+)" aria-label/g);
    expect(days).to.have.length(3);
    const hours = (await owner.get(days[1] ?? '')).text;
    expect([...hours.matchAll(/class="place"/g)]).to.have.length(24);
    const [calls = ''] = links(hours, /<a href="([^"]+)" aria-label/g);
    expect(calls).to.equal(`/account/calls?from=${ago(1)}&to=${ago(1)}&sort=price`);
  });

  it('leads from a model to its keys, and from both to the calls', async () => {
    const models = await read(`from=${ago(3)}&to=${today}&by=model`);
    const [model = ''] = links(models, /<td[^>]*><a href="([^"]+)">model-a/g);
    expect(model).to.contain('model=model-a').and.contain('by=key');
    const [calls = ''] = links((await owner.get(model)).text, /<td[^>]*><a href="([^"]+)">test key/g);
    expect(Object.fromEntries(new URLSearchParams(calls.split('?')[1]))).to.deep.equal({
      from: ago(3),
      to: today,
      model: 'model-a',
      key,
      sort: 'price',
    });
    expect((await owner.get(calls)).text)
      .to.contain('model-a')
      .and.not.contain('model-b');
  });

  it('compares with the period before, and shows calls or tokens instead of money', async () => {
    const text = await read(`from=${today}&to=${today}&unit=day&compare=yes`);
    expect(text).to.contain('+233%: ₽9.00 in the period before').and.contain('the period before: ₽9.00');
    expect(text).to.contain('class="dashed"');
    expect(await read(`from=${ago(1)}&to=${today}&unit=day&show=calls`)).to.match(/aria-label="[^"]+: 3"/);
    expect(await read(`from=${ago(1)}&to=${today}&unit=day&show=tokens`)).to.match(/aria-label="[^"]+: 60"/);
  });

  it('stacks by member, and leads from a member to their keys', async () => {
    expect(await read('by=member')).not.to.contain('value="member"');
    const member = await setUpMember(test, { account, role: 'member' }, 'ira@example.com');
    ira = member;
    const row = {
      id: newId('key'),
      account,
      name: 'laptop',
      hash: newId('hash'),
      last4: 'abcd',
      createdAt: Date.now(),
    };
    await test.store.keys.add({ ...row, createdBy: member.id }, 10);
    const at = Date.parse(today) + 7_200_000;
    const chargeId = newId('req');
    const start = { ...reserve(account, { chargeId, at, key: row.id, amount: 90n * RUB }), model: 'model-c' };
    await applied(test.store, start, settle(account, chargeId, { at, amount: 7n * RUB }));
    const text = await read(`from=${ago(3)}&to=${today}&by=member`);
    expect(text)
      .to.match(/swatch s1"><\/span>keys that no member created<\/li>/)
      .and.to.match(/swatch s2"><\/span>ira@example.com/);
    const [mine = ''] = links(text, /<td[^>]*><a href="([^"]+)">ira@example.com/g);
    expect(mine).to.contain(`member=${member.id}`).and.contain('by=key');
    const keys = (await owner.get(mine)).text;
    expect(keys).to.contain('>laptop (…abcd)</a>').and.contain('₽7.00').and.not.contain('₽42.00');
    const readFile = async (who: Visitor, lang: string) => {
      const file = await who.get(`/account/usage.csv?from=${ago(3)}&to=${today}&by=member&lang=${lang}`);
      return file.text.split('\r\n').map((line) => line.split(/[,;]/).slice(0, 3).join(' '));
    };
    expect(await readFile(owner, 'en')).to.deep.equal([
      'member calls charged_rub',
      'keys that no member created 5 42.00',
      'ira@example.com 1 7.00',
      '',
    ]);
    expect((await readFile(owner, 'ru'))[0]).to.equal('\ufeffучастник запросов списано_руб');
    expect((await readFile(member, 'en'))[0]).to.equal('day calls charged_rub');
    const theirs = (await member.get('/account/usage?by=member')).text;
    expect(theirs).to.contain('₽7.00').and.not.contain('value="member"').and.not.contain('₽42.00');
  });

  it('says how many calls cost the minimum price, of the newest ones if not all were read', async () => {
    const { id } = await test.account();
    const visitor = await setUpOwner(test, id, 'small@example.com');
    const share = async () =>
      /minimum of ₽0\.50<\/dt><dd>([^<]*)</.exec((await visitor.get('/account/usage')).text)?.[1];
    expect(await share()).to.equal(undefined);
    // Each has its own time: stores differ in the order of equal ones.
    for (const [index, amount] of [TEXT_MINIMUM + 1n, TEXT_MINIMUM, TEXT_MINIMUM].entries()) {
      const at = Date.now() + index;
      const chargeId = newId('req');
      await applied(test.store, reserve(id, { chargeId, at, amount: RUB }), settle(id, chargeId, { at, amount }));
    }
    expect(await share()).to.equal('2 of 3');
    const count = (calls: number, limit?: number) =>
      countMinimum(test.store.ledger, id, { filter: {}, calls, ...(limit && { limit }) });
    expect(await count(3)).to.deep.equal({ count: 2, of: 3, isPart: false });
    expect(await count(3, 2)).to.deep.equal({ count: 2, of: 2, isPart: true });
    expect(await count(4), 'one is archived').to.deep.equal({ count: 2, of: 3, isPart: true });
  });

  describe('with rows that are split once more', () => {
    /** Of each row its name, its calls and its sum; parts of rows begin with a dash. */
    const rows = (text: string) =>
      [...text.matchAll(/<tr role="row"><td[^>]*>(.*?)<\/td><td[^>]*>(.*?)<\/td><td[^>]*>(.*?)<\/td>/g)].map(
        ([, name = '', ...sums]) =>
          `${name.includes('class="part"') ? '- ' : ''}${[name, ...sums].join(' ').replace(/<[^>]*>/g, '')}`,
      );
    const span = (lang = 'en') => `from=${ago(3)}&to=${today}&lang=${lang}`;
    const partLinks = (text: string) => links(text, /<span class="part"><a href="([^"]+)"/g).map(toQuery);
    const toQuery = (href: string) => {
      const [path, query] = href.split('?');
      const { from: _from, to: _to, lang: _lang, ...rest } = Object.fromEntries(new URLSearchParams(query));
      return [path, rest];
    };
    const readFile = async (who: Visitor, query: string, lang?: string) => {
      const file = await who.get(`/account/usage.csv?${span(lang)}&${query}`);
      return file.text
        .trimEnd()
        .split(/\r\n/)
        .map((line) =>
          line
            .split(lang === 'ru' ? ';' : ',')
            .slice(0, 4)
            .join(' '),
        );
    };

    it('adds the parts up to each row, which leads deeper, as the parts do to the calls', async () => {
      const text = await read(`${span()}&by=model&split=key`);
      const [laptop, testKey] = [/laptop \(…abcd\)/, /test key \(…\w+\)/];
      const found = rows(text);
      expect(found.map((row) => row.replace(testKey, 'test').replace(laptop, 'laptop'))).to.deep.equal([
        'model-a 3 ₽38.00',
        '- test 3 ₽38.00',
        'model-c 1 ₽7.00',
        '- laptop 1 ₽7.00',
        'model-b 2 ₽4.00',
        '- test 2 ₽4.00',
        'Total 6 ₽49.00',
      ]);
      expect(partLinks(text)[0]).to.deep.equal(['/account/calls', { model: 'model-a', key, sort: 'price' }]);
      const [model = ''] = links(text, /<td[^>]*><a href="([^"]+)">model-a/g);
      expect(toQuery(model)).to.deep.equal(['/account/usage', { model: 'model-a', by: 'key' }]);
    });

    it('splits parts of the time, keys, types and members', async () => {
      const days = await read(`${span()}&split=model&unit=day`);
      expect(rows(days).map((row) => row.replace(/^\w+ \d+ \w+ /, 'day '))).to.deep.equal([
        ...['day 1 ₽3.00', '- model-a 1 ₽3.00', 'day 3 ₽9.00', '- model-a 1 ₽5.00', '- model-b 2 ₽4.00'],
        ...['day 2 ₽37.00', '- model-a 1 ₽30.00', '- model-c 1 ₽7.00', 'Total 6 ₽49.00'],
      ]);
      expect(partLinks(days)[0]).to.deep.equal(['/account/usage', { model: 'model-a' }]);
      expect(days).to.contain('swatch s3"></span>model-b');
      const kinds = await read(`${span()}&by=kind&split=key`);
      expect(partLinks(kinds)[0]).to.deep.equal(['/account/usage', { kind: 'text', key, by: 'model' }]);
      const members = await read(`${span()}&by=model&split=member`);
      expect(rows(members)).to.include.members(['- ira@example.com 1 ₽7.00', '- keys that no member created 3 ₽38.00']);
      const [first] = partLinks(members);
      expect(first?.[1]).to.include({ model: 'model-c', by: 'key' }).and.have.property('member');
    });

    it('is a file with a column for each name, whose sums are those of the page', async () => {
      expect(await readFile(owner, 'by=model&split=member')).to.deep.equal([
        'model member calls charged_rub',
        'model-a keys that no member created 3 38.00',
        'model-c ira@example.com 1 7.00',
        'model-b keys that no member created 2 4.00',
      ]);
      const byKey = (await owner.get(`/account/usage.csv?${span()}&by=model&split=key`)).text.split('\r\n');
      expect(byKey[0]).to.match(/^model,key,calls,.*,failed,name$/);
      expect(byKey[1]).to.match(new RegExp(`^model-a,${key},3,38\\.00,.*,0,test key \\(…`));
      expect(await readFile(owner, 'split=kind')).to.deep.equal([
        'day kind calls charged_rub',
        ...[`${ago(3)} text 1 3.00`, `${ago(1)} text 3 9.00`, `${today} text 2 37.00`],
      ]);
      const russian = await readFile(owner, 'by=key&split=kind', 'ru');
      expect(russian[0]).to.equal('\ufeffключ тип запросов списано_руб');
      expect(russian[1]).to.equal(`${key} текст 5 42,00`);
      expect(russian.at(-1)).to.equal('Всего  6 49,00');
      await owner.get('/account/usage?lang=en');
    });

    it('shows members their own keys only', async () => {
      expect(
        rows((await ira.get(`/account/usage?${span()}&by=model&split=key`)).text.replace(/\s+/g, ' ')),
      ).to.deep.equal([...['model-c 1 ₽7.00', '- laptop (…abcd) 1 ₽7.00', 'Total 1 ₽7.00']]);
      expect(await readFile(ira, 'by=key&split=model')).to.have.length(2);
      expect(await readFile(ira, 'by=model&split=member')).to.deep.equal([
        'model calls charged_rub refunded_rub',
        'model-c 1 7.00 0.00',
      ]);
    });

    it('keeps the dearest parts of a row, fewer of a day than of others, adds the others up, and says if none fit', async () => {
      for (const at of Array.from({ length: 45 }, (_, each) => each)) {
        const chargeId = newId('req');
        const time = { chargeId, at: Date.parse(ago(10)) + (at % 21) * HOUR_MS, key };
        const start = { ...reserve(account, { ...time, amount: 9n * RUB }), model: `part-${at}` };
        const end = settle(account, chargeId, { at: time.at, amount: (BigInt(at + 1) * RUB) / 10n });
        await applied(test.store, start as typeof end, end);
      }
      const found = rows(await read(`from=${ago(10)}&to=${ago(10)}&by=key&split=model&lang=en`));
      expect(found).to.have.length(47);
      expect(found.slice(-2)).to.deep.equal(['- part-0 1 ₽0.10', 'Total 45 ₽103.50']);
      const ofDay = rows(await read(`from=${ago(10)}&to=${ago(10)}&unit=day&split=model&lang=en`));
      expect(ofDay.slice(-3)).to.deep.equal(['- part-6 1 ₽0.70', '- others 6 ₽2.10', 'Total 45 ₽103.50']);
      const hours = await read(`from=${ago(10)}&to=${ago(10)}&unit=hour&split=model&lang=en`);
      expect(hours).to.contain('too many rows to split').and.not.to.contain('class="part"');
      expect(rows(hours)).to.have.length(22);
    });

    it('ignores a split by what the rows are already of, or by nothing known', async () => {
      for (const query of ['by=model&split=model', 'split=day', 'split=constructor', 'by=model&split='])
        expect(await read(`${span()}&${query}`), query).not.to.contain('class="part"');
    });
  });

  it('takes odd queries for none', async () => {
    for (const query of [
      'unit=x&show=__proto__&by=constructor',
      `from=${today}&to=2020-01-01`,
      'from=1900-01-01&unit=hour',
    ])
      expect((await owner.get(`/account/usage?${query}`)).status, query).to.equal(200);
  });

  it('shows thirty days up to the last one, or the first day alone if the last one is before it, as its file does', async () => {
    const sums = async (query: string) => {
      const [, ...rows] = (await owner.get(`/account/usage.csv?${query}&lang=en`)).text.trimEnd().split('\r\n');
      const [, calls] = /<dt>Calls<\/dt><dd>(\d+)</.exec(await read(`${query}&lang=en`)) ?? [];
      return [calls ?? '0', rows.map((row) => row.split(',').slice(0, 2))];
    };
    expect(await sums(`to=${ago(2)}`)).to.deep.equal(['1', [[ago(3), '1']]]);
    expect(await sums(`from=${ago(1)}&to=${ago(3)}`)).to.deep.equal(['3', [[ago(1), '3']]]);
    expect((await owner.get(`/account/calls?from=${ago(1)}&to=${ago(3)}`)).text).to.contain(
      `name="to" type="date" autocomplete="off" value="${ago(1)}"`,
    );
  });

  it('writes files with the names of keys, and heads in the language of the page', async () => {
    const csv = async (lang: string) => (await owner.get(`/account/usage.csv?by=key&lang=${lang}`)).text.split('\r\n');
    const [head, row] = await csv('en');
    expect(head).to.match(/^key,calls,charged_rub,refunded_rub,.*,failed,name$/);
    expect(row).to.match(new RegExp(`^${key},5,42\\.00,.*,1,test key \\(…`));
    expect((await csv('ru'))[0]).to.match(/ключ;запросов;списано_руб;возвращено_руб;/);
  });

  it('gives a change of less than half a percent no sign', async () => {
    for (const [days, amount] of [
      [41, 80_000_000n],
      [40, 80_100_000n],
    ] as const) {
      const [chargeId, at] = [newId('req'), Date.parse(ago(days)) + HOUR_MS];
      const start = { ...reserve(account, { chargeId, at, key, amount: 90n * RUB }), model: 'model-d' };
      const end = settle(account, chargeId, { at, amount });
      await applied(test.store, start as typeof end, end);
    }
    expect(await read(`from=${ago(40)}&to=${ago(40)}&compare=yes&lang=en`)).to.contain('>0%: ₽80.00');
  });

  it('shows what was refunded', async () => {
    const at = Date.parse(ago(20)) + HOUR_MS;
    const chargeId = newId('req');
    const start = { ...reserve(account, { chargeId, at, key, amount: 90n * RUB }), model: 'model-c' };
    const end = settle(account, chargeId, { at, amount: 7n * RUB });
    await applied(test.store, start as typeof end, end, giveBack('refund', account, chargeId, { at }));
    const text = await read(`from=${ago(20)}&to=${ago(20)}&by=model&lang=en`);
    expect(text)
      .to.match(/Refunded<\/dt><dd>₽7\.00/)
      .and.to.match(/model-c<\/a><\/td>.*?₽7\.00.*?<\/tr>/);
  });
});
