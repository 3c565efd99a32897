// Requests made to hurt whoever reads them for `smart`: each ends as one that names its model does.
import { expect } from 'chai';
import { JSON_VALUES_MAX } from '../../lib/http/json.ts';
import { CHAT, DIALECTS, MESSAGES, RESPONSES, type Reply, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { smartCatalog } from '../../testkit/smart.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const MIB = 1024 * 1024;

describe('hostile requests for smart', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(chatAnswer('Hello there.', { input: 7, output: 400 }));
    gateway = await startGateway({ catalog: smartCatalog(upstream.url) });
    account = await gateway.account('100000000');
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** Sends a body as it stands, once for `smart` and once for a model by its name; both must end alike. */
  async function both(path: string, messages: string, status = 200): Promise<Reply> {
    const of = (model: string) =>
      send(gateway.url + path, {
        key: account.key,
        body:
          path === RESPONSES
            ? `{"model":"${model}","max_output_tokens":600,"input":${messages}}`
            : `{"model":"${model}","max_tokens":600,"messages":${messages}}`,
      });
    const named = await of('small');
    const smart = await of('smart');
    expect([named.status, smart.status], smart.text.slice(0, 300)).to.deep.equal([status, status]);
    if (status === 200) expect(smart.json.smart_routing.tier).to.be.oneOf(['lite', 'standard', 'heavy']);
    else expect(smart.json.error).to.deep.equal(named.json.error);
    return smart;
  }
  const user = (content: unknown) => JSON.stringify([{ role: 'user', content }]);

  for (const path of DIALECTS) {
    describe(path, () => {
      const refused: readonly [name: string, messages: string][] = [
        ['no messages', '[]'],
        ['an empty prompt', user('')],
        ['a prompt of empty parts', user(Array.from({ length: 1000 }, () => ({ type: 'text', text: '' })))],
        ['no prompt', JSON.stringify([{ role: 'assistant', content: 'write a quicksort' }])],
        ['a number', user(5)],
      ];
      const refusedBig: readonly [name: string, messages: string][] = [
        ['more parts than a body may have', user(Array.from({ length: JSON_VALUES_MAX }, () => ({})))],
        ['depth without end', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
      ];
      // How long a body may be does not depend on the format.
      const itBig = path === CHAT ? it : itLong;
      for (const [name, messages] of refused) it(`refuses ${name}`, () => both(path, messages, 400));
      for (const [name, messages] of refusedBig) itBig(`refuses ${name}`, () => both(path, messages, 400));

      const answered: readonly [name: string, messages: string][] = [
        ['white space', user(' \n\t\u00a0\u200b')],
        ['lone surrogates', String.raw`[{"role":"user","content":"\ud83d write \udc4b code \udfff\ud835"}]`],
        [
          'control characters',
          String.raw`[{"role":"user","content":"\u0000\u0007\u001b[31mwrite\u0000code\ufeff\u202e"}]`,
        ],
        [
          'names of what every object has',
          user('__proto__ constructor toString hasOwnProperty valueOf __defineGetter__'),
        ],
      ];
      const answeredBig: readonly [name: string, messages: string][] = [
        [
          'tens of thousands of parts',
          user(Array.from({ length: longer(20_000, 60_000) }, () => ({ type: 'text', text: 'write ' }))),
        ],
        [
          'tens of thousands of turns',
          JSON.stringify(
            Array.from({ length: longer(10_000, 30_000) }, () => ({ role: 'user', content: 'and now in Rust' })),
          ),
        ],
        [
          'a prompt far back behind answers',
          JSON.stringify([
            { role: 'user', content: 'write a quicksort' },
            ...Array.from({ length: longer(10_000, 20_000) }, () => ({ role: 'assistant', content: 'ok' })),
          ]),
        ],
      ];
      for (const [name, messages] of answered) it(`answers ${name}`, () => both(path, messages));
      for (const [name, messages] of answeredBig) itBig(`answers ${name}`, () => both(path, messages));

      it('answers alike to texts made to break patterns', async () => {
        const pieces = [
          'a',
          '(',
          '((a+)+',
          '"',
          '```',
          '\\',
          '$x^2$',
          '-',
          'a.b.',
          '1,',
          '"""\n',
          'как_',
          ': ',
          'write and ',
        ];
        for (const piece of pieces.filter((_, at) => longer(at % 10 === 0, true))) {
          const messages = user(`${piece.repeat(longer(20_000, 50_000))}!`);
          const { smart_routing } = (await both(path, messages)).json;
          expect((await both(path, messages)).json.smart_routing).to.deep.equal(smart_routing);
        }
      });

      itLong('answers 10 MiB', async function () {
        this.timeout(60_000);
        await both(path, user('translate '.repeat(MIB)));
      });
    });
  }

  itLong('answers 40 MiB of system prompt', async function () {
    this.timeout(60_000);
    const messages = [{ role: 'user', content: 'hi' }];
    const body = { model: 'smart', max_tokens: 600, system: 'translate '.repeat((40 * MIB) / 10), messages };
    const reply = await send(gateway.url + MESSAGES, { key: account.key, body });
    expect(reply.status, reply.text.slice(0, 300)).to.equal(200);
  });

  it('never takes a name of many megabytes for smart', async function () {
    this.timeout(60_000);
    const model = 'smart'.repeat((longer(4, 40) * MIB) / 5);
    const reply = await send(gateway.url + CHAT, {
      key: account.key,
      body: { model, messages: [{ role: 'user', content: 'hi' }] },
    });
    expect(reply.status).to.equal(400);
    expect(reply.text.length).to.be.below(1000);
  });
});
