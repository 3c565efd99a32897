// The catalog is edited while calls run: each keeps the model, route and price it began with, and a bad edit changes
// nothing but the log.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ask, CHAT, findBilling, joinText, open, parseEvents, readHead, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatAnswer, chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const USAGE = { input: 7, output: 400 };
const SECONDS = longer(1.5, 4);
const PER_SECOND = 40;
/** Where a reload takes longer than on a quiet machine. */
const EDITS_MIN = 20;

describe('a catalog that is edited under load', function () {
  this.timeout(60_000);
  let upstreams: TestUpstream[];
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstreams = await Promise.all([startUpstream(), startUpstream()]);
    for (const upstream of upstreams) {
      // The answer says which model of which upstream it is of.
      upstream.behave((call) => chatAnswer(`${upstreams.indexOf(upstream)} ${call.body.model}`, USAGE)(call));
    }
    gateway = await startGateway({ catalog: version(0) });
    account = await gateway.account('100000');
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    for (const upstream of upstreams) await upstream.close();
  });

  /** Each version has a price, an upstream and a model of its own; every third one has new settings. */
  function version(number: number): object {
    const at = number % 2;
    const settings = { baseUrl: `${upstreams[at]?.url}/v1`, apiKey: `up-secret-key-${Math.floor(number / 3)}` };
    return {
      upstreams: { [`up-${at}`]: { plugin: 'openai-compatible', settings } },
      models: [
        {
          id: 'model-a',
          type: 'text',
          provider: 'Test',
          routes: [{ upstream: `up-${at}`, model: `m-${number}` }],
          price: { input: '1000', output: `${5000 + number}` },
        },
      ],
    };
  }
  const computeCharge = (number: number) => 7_000n + 400n * BigInt(5000 + number);

  interface Answered {
    readonly status: number;
    readonly text: string;
    readonly charge: string;
  }
  async function call(stream: boolean): Promise<Answered> {
    const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi', { stream }) });
    const text = stream ? joinText(parseEvents(reply.text)) : reply.json.choices?.[0].message.content;
    return { status: reply.status, text, charge: String(reply.headers['x-request-id']) };
  }

  const file = () => join(gateway.folder, 'catalog', 'models.json');
  const linesWith = (part: string) =>
    readFileSync(join(gateway.folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(part));

  itTimed('answers and charges every call by one version of the catalog', async () => {
    const running: Promise<Answered>[] = [];
    const endAt = performance.now() + SECONDS * 1000;
    let edits = 0;
    const editing = (async () => {
      while (performance.now() < endAt || edits < EDITS_MIN) {
        edits += 1;
        gateway.writeCatalog(version(edits));
        if (!(await gateway.gateway.reload())) throw new Error('an edit was refused');
        await sleep(20);
      }
    })();
    while (performance.now() < endAt || edits < EDITS_MIN) {
      running.push(call(running.length % 2 === 0));
      await sleep(1000 / PER_SECOND);
    }
    await editing;
    const answered = await Promise.all(running);
    const seen = new Set<number>();
    for (const { status, text, charge: id } of answered) {
      expect(status, text).to.equal(200);
      const [, at, number] = /^([01]) m-(\d+)$/.exec(text) ?? expect.fail(`an answer of no version: ${text}`);
      seen.add(Number(number));
      expect(Number(at), text).to.equal(Number(number) % 2);
      const charge = await gateway.store.ledger.charge(id);
      expect([charge?.state, charge?.charged]).to.deep.equal(['settled', computeCharge(Number(number))]);
      expect(JSON.parse(charge?.prices ?? '{}').output).to.equal(`${5000 + Number(number)}000000`);
    }
    expect(seen.size, `of ${edits} edits`).to.be.above(10);
  });

  it('lets a call finish whose model, upstream and key are gone', async () => {
    gateway.writeCatalog(version(0));
    await gateway.gateway.reload();
    let end: () => void = () => undefined;
    const [first] = upstreams as [TestUpstream, TestUpstream];
    first.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.write(chatChunk('before '));
      end = () => void response.end(chatChunk('after') + chatEnd(USAGE));
    });
    const body = ask('hi', { stream: true });
    const response = await readHead(open(gateway.url + CHAT, { key: account.key, body }));
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => void chunks.push(chunk));
    await until(() => Buffer.concat(chunks).includes('before'));
    const other = version(1) as { models: { id: string }[] };
    gateway.writeCatalog({ ...other, models: other.models.map((model) => ({ ...model, id: 'model-b' })) });
    expect(await gateway.gateway.reload()).to.equal(true);
    expect((await call(false)).status, 'a new call').to.equal(400);
    end();
    await new Promise((resolve) => response.once('end', resolve));
    const events = parseEvents(Buffer.concat(chunks).toString());
    expect(joinText(events)).to.equal('before after');
    expect(findBilling(events).charged_rub).to.equal(Number(computeCharge(0)) / 1e6);
  });

  const BAD: readonly (readonly [name: string, edit: () => unknown, says: RegExp])[] = [
    ['broken JSON', () => '{ "models": [', /models\.json: .*JSON/],
    [
      'a price of zero',
      () => edited({ price: { input: '0', output: '1' } }),
      /models\.json: models\[0\]\.price\.input /,
    ],
    ['an unknown field', () => edited({ prize: 1 }), /models\.json: models\[0\]\.prize /],
    ['an unknown order', () => edited({ order: 'best' }), /models\.json: models\[0\]\.order /],
    [
      'an unknown upstream',
      () => edited({ routes: [{ upstream: 'down', model: 'm' }] }),
      /models\.json: model model-a: routes\[0\]\.upstream: unknown upstream down/,
    ],
    [
      'an alias that is taken',
      () => edited({ aliases: ['model-a'] }),
      /models\.json: model model-a: aliases: the name/,
    ],
    [
      'a tier that is none',
      () => ({ ...version(0), smart: { lite: 'model-z' } }),
      /models\.json: smart\.lite: model-z is not a text model/,
    ],
    [
      'an unknown plugin',
      () => ({ upstreams: { up: { plugin: 'none' } } }),
      /models\.json: upstream up: unknown plugin/,
    ],
    [
      'a setting that is none',
      () => ({ upstreams: { up: { plugin: 'openai-compatible', settings: { baseUrl: 7 } } } }),
      /models\.json: Upstream `up`: bad settings: `baseUrl` /,
    ],
  ];
  const edited = (change: object) => {
    const { upstreams: kept, models } = version(0) as { upstreams: object; models: object[] };
    return { upstreams: kept, models: models.map((model) => ({ ...model, ...change })) };
  };

  it('keeps the old one after every bad edit, and logs one line that names file and field', async () => {
    const [first] = upstreams as [TestUpstream, TestUpstream];
    first.behave((incoming) => chatAnswer(`0 ${incoming.body.model}`, USAGE)(incoming));
    gateway.writeCatalog(version(0));
    await gateway.gateway.reload();
    for (const [name, edit, says] of BAD) {
      const before = linesWith('not reloaded').length;
      const content = edit();
      writeFileSync(file(), typeof content === 'string' ? content : JSON.stringify(content));
      const calls = Array.from({ length: 5 }, () => call(true));
      expect(await gateway.gateway.reload()).to.equal(false);
      await until(() => linesWith('not reloaded').length > before);
      const [line = '', ...more] = linesWith('not reloaded').slice(before);
      expect(JSON.parse(line).msg, name).to.match(says);
      expect(more, name).to.deep.equal([]);
      for (const { status, text } of await Promise.all(calls)) expect([status, text]).to.deep.equal([200, '0 m-0']);
    }
  });
});
