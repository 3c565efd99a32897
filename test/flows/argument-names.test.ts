// Arguments of tools by names that a vendor refuses: it gets others, and clients their own, however an answer is cut.
import { expect } from 'chai';
import fc from 'fast-check';
import { CHAT, MESSAGES, parseEvents, RESPONSES, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { LISTENERS } from './tool-listeners.ts';
import { CLIENTS, SPEAKERS } from './tool-wire.ts';

const PATHS = { message: MESSAGES, chat: CHAT, responses: RESPONSES } as const;
const LONG = 'longest.'.repeat(9);
const NAMES = ['$filter', 'filter[id]', 'Номер счёта', 'a "quoted" \\ name', LONG, '_', 'plain-1.a'];
const TAKEN = /^[a-zA-Z0-9_.-]{1,64}$/;

const SCHEMA = {
  type: 'object',
  properties: {
    ...Object.fromEntries(NAMES.map((name) => [name, { description: name }])),
    nested: { type: 'object', properties: { $filter: { type: 'string' } }, required: ['$filter'] },
  },
  required: ['$filter', 'plain-1.a'],
};
const TOOL = { name: 'look', description: 'looks', schema: SCHEMA };
const ANOTHER = { name: 'walk', description: 'walks', schema: { type: 'object' } };
/** With names as values and within, a number that no double holds, and a text that looks like JSON. */
const INPUT = String.raw`{"$filter":"$filter","filter[id]":12345678901234567890,"nested":{"$filter":["filter[id]"]},"plain-1.a":"{\"$filter\":1}"}`;

describe('arguments whose names a vendor refuses', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const settings = { baseUrl: upstream.url, apiKey: 'up-secret-key-1' };
    const routes = [{ upstream: 'up', model: 'vendor' }];
    const model = {
      id: 'm',
      type: 'text',
      provider: 'Test',
      tools: true,
      routes,
      price: { input: '10', output: '10' },
    };
    gateway = await startGateway({
      catalog: { upstreams: { up: { plugin: 'anthropic', settings } }, models: [model] },
    });
    account = await gateway.account('100000');
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const speak = (pieces: readonly string[]) =>
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      const calls = pieces.length === 0 ? [] : [{ id: 'call_1', name: 'look', pieces }];
      response.end(SPEAKERS.message({ text: ['ok'], calls }));
    });
  const ask = async (
    dialect: keyof typeof PATHS,
    { stream = false, tools = [TOOL, ANOTHER], history = [INPUT] } = {},
  ) => {
    const turns = history.map((json, at) => ({
      text: '',
      calls: [{ id: `c${at}`, name: 'look', json }],
      results: [{ text: 'ok', isError: false, images: 0 }],
    }));
    const fields = CLIENTS[dialect]({ prompt: 'x', turns, tools, choice: 'auto', single: false });
    const body = { model: 'm', max_tokens: 1000, stream, ...fields };
    const reply = await send(`${gateway.url}${PATHS[dialect]}`, { key: account.key, body });
    expect(reply.status, reply.text).to.equal(200);
    return { reply, sent: `${upstream.calls.at(-1)?.bytes}` };
  };
  /** The vendor's names, in the order of the client's. */
  const readNames = (sent: string): readonly string[] => Object.keys(JSON.parse(sent).tools[0].input_schema.properties);

  for (const dialect of ['message', 'chat', 'responses'] as const) {
    it(`reach it by others, ${dialect}-style`, async () => {
      speak([]);
      const { sent } = await ask(dialect);
      const { tools } = JSON.parse(sent);
      const names = readNames(sent);
      expect(names).to.have.length(NAMES.length + 1);
      expect(new Set(names).size).to.equal(names.length);
      for (const name of names) expect(name).to.match(TAKEN);
      expect(names.slice(-3)).to.deep.equal(['_', 'plain-1.a', 'nested']);
      const { properties, required } = tools[0].input_schema;
      expect(required).to.deep.equal([names[0], 'plain-1.a']);
      expect(names.slice(0, -1).map((name) => properties[name].description)).to.deep.equal(NAMES);
      expect(properties.nested).to.deep.equal(SCHEMA.properties.nested);
      const [filter, id] = names;
      // The client of this test writes that format by way of doubles.
      const input = dialect === 'message' ? JSON.stringify(JSON.parse(INPUT)) : INPUT;
      const renamed = input.replace('"$filter":', `"${filter}":`).replace('"filter[id]":123', `"${id}":123`);
      expect(sent).to.contain(renamed);
      expect((await ask(dialect)).sent, 'the same in each request').to.equal(sent);
    });

    for (const stream of [false, true])
      it(`come back by their own ${stream ? 'in a' : 'without a'} ${dialect}-style stream`, async () => {
        speak([]);
        const names = readNames((await ask(dialect)).sent);
        const written = JSON.stringify(Object.fromEntries(names.map((name, at) => [name, `${name} "${NAMES[at]}"`])));
        const expected = Object.fromEntries(
          [...NAMES, 'nested'].map((name, at) => [name, `${names[at]} "${NAMES[at]}"`]),
        );
        const cuts = fc.array(fc.nat(written.length), { maxLength: 30 });
        await fc.assert(
          fc.asyncProperty(cuts, async (places) => {
            const sorted = [0, ...places.toSorted((a, b) => a - b), written.length];
            speak(
              sorted
                .slice(1)
                .map((end, at) => written.slice(sorted[at], end))
                .filter((piece) => piece !== ''),
            );
            const { reply } = await ask(dialect, { stream });
            const listener = LISTENERS[dialect];
            const { calls } = stream ? listener.stream(parseEvents(reply.text)) : listener.reply(reply.json);
            expect(calls.map(({ json }) => JSON.parse(json))).to.deep.equal([expected]);
          }),
          { numRuns: longer(8, 100) },
        );
      });
  }

  it('come back in arguments that were cut off, and from a call that says one as a value', async () => {
    speak([]);
    const [filter] = readNames((await ask('chat')).sent);
    const rows: readonly (readonly [pieces: readonly string[], json: string])[] = [
      [[`{"${filter}`, '"'], '{"$filter"'],
      [[`{"${filter}`], `{"${filter}`],
      [['{"a":["', `${filter}`, '"]}'], '{"a":["$filter"]}'],
      [['{"a":"', `${'x'.repeat(200)}`], `{"a":"${'x'.repeat(200)}`],
      [['{"', 'a', '":', '""', ',"b":"', '"}'], '{"a":"","b":""}'],
    ];
    for (const [pieces, json] of rows) {
      speak(pieces);
      const { reply } = await ask('chat', { stream: true });
      expect(LISTENERS.chat.stream(parseEvents(reply.text)).calls[0]?.json).to.equal(json);
    }
  });

  it('change no request whose names the vendor takes, nor arguments that are no object', async () => {
    speak([]);
    const plain = { ...TOOL, schema: { type: 'object', properties: { 'a.b-c_1': {} }, required: ['a.b-c_1'] } };
    const { sent } = await ask('chat', { tools: [plain], history: [INPUT] });
    expect(JSON.parse(sent).tools[0].input_schema).to.deep.equal(plain.schema);
    expect(sent).to.contain(INPUT);
    for (const json of ['["$filter"]', '{"$filter":']) {
      const broken = await ask('chat', { history: [json] });
      expect(broken.sent).to.contain(JSON.stringify({ INVALID_JSON: json }));
    }
  });

  it('are replaced in the examples of a tool, too', async () => {
    speak([]);
    const { name, description, schema } = TOOL;
    const examples = [{ $filter: 'a', nested: { $filter: 'b' } }, 'no object'];
    const tool = { name, description, input_schema: schema, input_examples: examples };
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], tools: [tool] };
    const reply = await send(`${gateway.url}${MESSAGES}`, { key: account.key, body });
    expect(reply.status, reply.text).to.equal(200);
    const sent = `${upstream.calls.at(-1)?.bytes}`;
    const [filter = ''] = readNames(sent);
    expect(JSON.parse(sent).tools[0].input_examples).to.deep.equal([
      { [filter]: 'a', nested: { $filter: 'b' } },
      'no object',
    ]);
  });
});
