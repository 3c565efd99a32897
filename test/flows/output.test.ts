// JSON and reasoning reach the models that can do it and no other; what a model thinks is billed and never delivered.
import { expect } from 'chai';
import {
  ask,
  CHAT,
  DIALECTS,
  findBilling,
  joinText,
  MESSAGES,
  parseEvents,
  RESPONSES,
  send,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

describe('answer formats and reasoning', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream(({ response }) => {
      response.writeHead(200, SSE);
      const thought = { choices: [{ index: 0, delta: { reasoning_content: 'a secret thought' } }] };
      response.end(
        `data: ${JSON.stringify(thought)}\n\n${chatChunk('{"city":"Riga"}')}${chatEnd({ input: 7, output: 400 })}`,
      );
    });
    const [model] = (chatCatalog(upstream.url) as { models: object[] }).models;
    const models = [
      model,
      { ...model, id: 'clever', aliases: [], json: true, reasoning: true },
      { ...model, id: 'loose', aliases: [], json: true, schema: false },
      { ...model, id: 'strict', aliases: [], schema: true },
    ];
    gateway = await startGateway({ catalog: { ...chatCatalog(upstream.url), models } });
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const WISHES: Readonly<Record<string, object>> = {
    [CHAT]: {
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA, strict: true } },
      reasoning_effort: 'high',
    },
    [RESPONSES]: {
      text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } },
      reasoning: { effort: 'high' },
    },
    [MESSAGES]: {
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
      thinking: { type: 'enabled', budget_tokens: 20_000 },
    },
  };
  const NAMES = {
    [CHAT]: { name: 'place', strict: true },
    [RESPONSES]: { name: 'place', strict: true },
    [MESSAGES]: { name: 'answer' },
  };
  const FIELDS = { [CHAT]: 'response_format', [RESPONSES]: 'text.format', [MESSAGES]: 'output_config.format' };
  const LONG = { type: 'object', description: 'x'.repeat(40_000) };
  const LONG_WISHES = {
    [CHAT]: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: LONG } } },
    [RESPONSES]: { text: { format: { type: 'json_schema', name: 'place', schema: LONG } } },
    [MESSAGES]: { output_config: { format: { type: 'json_schema', schema: LONG } } },
  };
  const WRONG = {
    [CHAT]: { response_format: { type: 'xml' } },
    [RESPONSES]: { text: { format: { type: 'xml' } } },
    [MESSAGES]: { thinking: { type: 'much' } },
  };

  for (const path of DIALECTS) {
    it(`${path}: passes both to a model that supports them`, async () => {
      const { key } = await gateway.account();
      await send(gateway.url + path, { key, body: ask('hi', { ...WISHES[path], model: 'clever' }) });
      expect(upstream.calls.at(-1)?.body).to.deep.include({
        response_format: { type: 'json_schema', json_schema: { ...NAMES[path], schema: SCHEMA } },
        reasoning_effort: 'high',
      });
    });

    it(`${path}: passes them to no other model`, async () => {
      const { key } = await gateway.account();
      await send(gateway.url + path, { key, body: ask('hi') });
      const plain = upstream.calls.at(-1)?.body;
      const reply = await send(gateway.url + path, { key, body: ask('hi', WISHES[path]) });
      expect(reply.status).to.equal(200);
      expect(upstream.calls.at(-1)?.body).to.deep.equal(plain);
    });

    it(`${path}: passes a schema to a model that only takes schemas`, async () => {
      const { key } = await gateway.account();
      await send(gateway.url + path, { key, body: ask('hi', { ...WISHES[path], model: 'strict' }) });
      expect(upstream.calls.at(-1)?.body).to.have.nested.property('response_format.type', 'json_schema');
    });

    it(`${path}: refuses a schema for a model that answers in JSON without one, before any hold`, async () => {
      const account = await gateway.account();
      const asked = upstream.calls.length;
      const body = ask('hi', { ...WISHES[path], model: 'loose' });
      const { status, json } = await send(gateway.url + path, { key: account.key, body });
      expect([status, upstream.calls.length]).to.deep.equal([400, asked]);
      expect(json.error.message).to.equal(
        `Invalid \`${FIELDS[path]}\`: \`loose\` answers in JSON, but keeps to no schema.`,
      );
      const { held, charged } = await gateway.wallet(account);
      expect([held, charged]).to.deep.equal([0n, 0n]);
    });

    it(`${path}: bills reasoning, and delivers it beside the text`, async () => {
      const { key } = await gateway.account();
      const body = ask('hi', { ...WISHES[path], model: 'clever', stream: true });
      const { text } = await send(gateway.url + path, { key, body });
      expect(text).to.contain('secret');
      expect(joinText(parseEvents(text))).to.equal('{"city":"Riga"}');
      expect(findBilling(parseEvents(text)).charged_rub).to.equal(2.007);
    });

    it(`${path}: holds the tokens of a schema`, async () => {
      const { key } = await gateway.account();
      const body = ask('hi', { ...LONG_WISHES[path], model: 'clever', stream: true });
      const events = parseEvents((await send(gateway.url + path, { key, body })).text);
      expect(findBilling(events).reserved_rub).to.be.above(5.005 + 10);
    });

    it(`${path}: refuses a wrong shape and names its path, for every model`, async () => {
      const { key } = await gateway.account();
      const reply = await send(gateway.url + path, { key, body: ask('hi', WRONG[path]) });
      expect(reply.status).to.equal(400);
      expect(reply.json.error.message).to.match(
        /^Invalid `(response_format|text\.format|thinking)\.type`: must be one of /,
      );
    });
  }

  it('passes JSON without a schema on to models that take it, and to no other', async () => {
    const { key } = await gateway.account();
    const sent: unknown[] = [];
    for (const model of ['clever', 'loose', 'strict', 'model-a']) {
      await send(gateway.url + CHAT, { key, body: ask('hi', { response_format: { type: 'json_object' }, model }) });
      sent.push(upstream.calls.at(-1)?.body.response_format);
    }
    const mode = { type: 'json_object' };
    expect(sent).to.deep.equal([mode, mode, undefined, undefined]);
  });
});
