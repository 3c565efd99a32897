// Shapes of requests that vendors refuse, or that other APIs have: what a vendor of each wire format gets of them.
import { expect } from 'chai';
import { CHAT, MESSAGES, parseEvents, send } from '../../testkit/client.ts';
import { SSE } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';
import {
  COST,
  FORMATS,
  gives,
  idsIn,
  type Json,
  look,
  makes,
  type RequestStage,
  result,
  sayHi,
  startRequestStage,
  text,
  user,
} from './request-stage.ts';

describe('shapes of requests', () => {
  let stage: RequestStage;

  before(async () => {
    stage = await startRequestStage();
  });
  after(() => stage.stop());

  describe('that vendors refuse', () => {
    for (const format of FORMATS) {
      it(`give each call an id of its own, and its result too: ${format}`, async () => {
        const messages = [user(), makes('call_0', 'call_0'), gives('call_0'), gives('call_0', 'r2')];
        const again = [...messages, makes('call_0'), gives('call_0', 'r3')];
        const { calls, results } = idsIn(format, await stage.ask(CHAT, { model: format, messages: again }));
        expect(calls).to.deep.equal(['call_0', 'call_0_2', 'call_0_3']);
        expect(results).to.deep.equal(calls);
      });

      it(`shorten long ids and spell others, still apart from each other: ${format}`, async () => {
        const ids = ['a:b', 'a_3ab', `${'x'.repeat(200)}1`, `${'x'.repeat(200)}2`];
        const messages = [user(), makes(...ids), ...ids.map((id) => gives(id))];
        const { calls, results } = idsIn(format, await stage.ask(CHAT, { model: format, messages }));
        expect(new Set(calls)).to.have.property('size', 4);
        expect(results).to.deep.equal(calls);
        for (const id of calls) expect(id.length).to.be.at.most(40);
      });

      it(`leave blank texts out: ${format}`, async () => {
        const messages = [user('a'), { role: 'assistant', content: '\n\n' }, user([text(' \n'), text('b')])];
        const body = await stage.ask(MESSAGES, { model: format, system: ' ', messages });
        const written = JSON.stringify(body);
        expect(written).to.not.match(/"\s*\\n|system|nstruction/);
        expect(written).to.not.match(/assistant|"model","parts"/);
        expect(await stage.refused(MESSAGES, { model: format, messages: [user(' \t')] })).to.match(/must contain text/);
      });

      it(`complete the schemas of tools: ${format}`, async () => {
        const schemas = [{}, { type: 'object' }, { type: null, properties: null }, { type: ['object', 'null'] }];
        const tools = schemas.map((input_schema, at) => ({ name: `f${at}`, input_schema }));
        const written = JSON.stringify(await stage.ask(MESSAGES, { model: format, messages: [user()], tools }));
        const whole =
          /"(?:parameters|input_schema|parametersJsonSchema)":\{(?:"type":"object","properties":\{\}|"properties":\{\},"type":"object")\}/g;
        expect(written.match(whole), written).to.have.length(4);
      });

      it(`replace halves of characters: ${format}`, async () => {
        const half = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"a":"\\ud83d"}' } };
        const messages = [user('half \ud83d'), { ...makes(), tool_calls: [half] }, gives('a', '\udc4b')];
        const body = await stage.ask(CHAT, { model: format, messages });
        const written = JSON.stringify(body);
        expect(written).to.not.match(/\\u[dD][89a-fA-F]/);
        expect(written.match(/\ufffd|\\ufffd/g)).to.have.length(3);
      });

      it(`map names of tools and map them back: ${format}`, async () => {
        const name = `mcp.plugin-${'x'.repeat(100)}`;
        const tools = [{ name, input_schema: { type: 'object', properties: {} } }, look];
        const calling = { type: 'tool_use', id: 'a', name, input: {} };
        const messages = [
          user(),
          { role: 'assistant', content: [calling] },
          user([{ type: 'tool_result', tool_use_id: 'a', content: 'r' }]),
        ];
        const choice = { type: 'tool', name };
        const body = await stage.ask(MESSAGES, { model: format, messages, tools, tool_choice: choice });
        const names = new Set(JSON.stringify(body).match(/mcp[^"]*/g));
        const [sent = ''] = names;
        expect(names).to.have.property('size', 1);
        expect(sent)
          .to.match(/^mcp_plugin_x+_[0-9a-f]{8}$/)
          .and.have.property('length')
          .at.most(64);
        expect(JSON.stringify(body)).to.contain('"look"');
        const again = await stage.ask(MESSAGES, { model: format, messages, tools, tool_choice: choice });
        expect(again).to.deep.equal(body);
      });
    }

    it('give the client the name that it knows', async () => {
      const name = `mcp__${'x'.repeat(100)}`;
      stage.upstream.behave(({ body, response }) => {
        const [tool] = (body as Json).tools;
        const call = { index: 0, id: 'a', function: { name: tool.function.name, arguments: '{}' } };
        response.writeHead(200, SSE);
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })}\n\n`);
        const usage = { prompt_tokens: 20, completion_tokens: 10 };
        response.end(
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}\n\n`,
        );
      });
      const tools = [{ name, input_schema: {} }];
      const body = { model: 'chat', max_tokens: 50, messages: [user()], tools };
      const whole = await send(stage.gateway.url + MESSAGES, { key: stage.account.key, body });
      expect(whole.json.content[0]).to.include({ type: 'tool_use', name });
      const streamed = await send(stage.gateway.url + MESSAGES, {
        key: stage.account.key,
        body: { ...body, stream: true },
      });
      const started = parseEvents(streamed.text).find(({ event }) => event === 'content_block_start');
      expect((started as Json).data.content_block).to.include({ name });
      stage.upstream.behave(sayHi);
      const messages = [user(), { role: 'assistant', content: whole.json.content }, user([result('a')])];
      for (const format of FORMATS) await stage.ask(MESSAGES, { model: format, messages, tools });
    });

    it('end an answer to be continued without white space, in the messages format', async () => {
      const body = await stage.ask(MESSAGES, {
        model: 'message',
        messages: [user(), { role: 'assistant', content: 'So: ' }],
      });
      expect(body.messages.at(-1)).to.deep.equal({ role: 'assistant', content: 'So:' });
    });
  });

  it('keep every digit of the numbers of earlier calls', async () => {
    const history =
      '{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look",' +
      '"input":{"id":2512292042121000001,"price":0.10000000000000000001}}]},' +
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}';
    const padding = `{"role":"user","content":${JSON.stringify('long '.repeat(60_000))}},`;
    for (const format of FORMATS) {
      // Long bodies are parsed on a thread.
      for (const before of ['', padding]) {
        const body = `{"model":"${format}","max_tokens":50,"messages":[${before}${history}]}`;
        const headers = { 'content-type': 'application/json' };
        const reply = await send(stage.gateway.url + MESSAGES, { key: stage.account.key, body, headers });
        expect(reply.status, reply.text).to.equal(200);
        const sent = `${stage.upstream.calls.at(-1)?.bytes}`;
        expect(sent).to.contain('2512292042121000001').and.contain('0.10000000000000000001');
      }
    }
  });

  it('see an image in the shape of the responses dialect', async () => {
    const url = `data:image/png;base64,${PNG.toString('base64')}`;
    for (const path of [CHAT, MESSAGES]) {
      const messages = [user([text('x'), { type: 'input_image', image_url: url }])];
      // A thousand tokens for the image.
      const body = await stage.ask(path, { model: 'chat', messages }, { cost: COST + 10 });
      expect(body.messages[0].content[1]).to.deep.equal({ type: 'image_url', image_url: { url } });
    }
  });

  it('read tools in the flat shape and the functions of old clients', async () => {
    const parameters = { type: 'object', properties: {} };
    const flat = { type: 'function', name: 'look', parameters };
    const written = { type: 'function', function: { name: 'look', parameters } };
    const choice = { type: 'function', function: { name: 'look' } };
    const modern = await stage.ask(CHAT, {
      model: 'chat',
      messages: [user()],
      tools: [flat],
      tool_choice: { type: 'function', name: 'look' },
    });
    expect(modern).to.deep.include({ tools: [written], tool_choice: choice });
    const called = { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{"a":1}' } };
    const messages = [
      user(),
      called,
      { role: 'function', name: 'look', content: 'r' },
      called,
      { role: 'function', name: 'look', content: 'r2' },
    ];
    const old = await stage.ask(CHAT, {
      model: 'chat',
      messages,
      functions: [{ name: 'look', parameters }],
      function_call: { name: 'look' },
    });
    expect(old).to.deep.include({ tools: [written], tool_choice: choice });
    const { calls, results } = idsIn('chat', old);
    expect([calls, results]).to.deep.equal([
      ['function_call', 'function_call_2'],
      ['function_call', 'function_call_2'],
    ]);
  });

  it('begin with the same prompt in each call, whatever an agent says to its vendor of a single one', async () => {
    for (const format of FORMATS) {
      const asked = async (call: string) => {
        const line = `x-acme-billing-header: version=2.1.9; call=${call};`;
        const system = [text(line), { ...text('Be brief.'), cache_control: { type: 'ephemeral' } }];
        return JSON.stringify(await stage.ask(MESSAGES, { model: format, system, messages: [user()] }));
      };
      const first = await asked('1f');
      expect(first).to.contain('Be brief.').and.not.to.contain('billing');
      expect(await asked('2a')).to.equal(first);
    }
  });

  it('read tools of the messages dialect in a chat', async () => {
    const sent = await stage.ask(CHAT, {
      model: 'message',
      messages: [user()],
      tools: [{ ...look, description: 'd' }],
      tool_choice: { type: 'tool', name: 'look' },
    });
    expect(sent.tools).to.deep.equal([{ ...look, description: 'd' }]);
    expect(sent.tool_choice).to.deep.equal({ type: 'tool', name: 'look' });
  });

  it('send stop strings where the vendor has a place for them', async () => {
    const stops = ['a', ' ', 'c', 'd', 'e', 'f'];
    const asked = (model: string) => stage.ask(MESSAGES, { model, messages: [user()], stop_sequences: stops });
    expect((await asked('chat')).stop).to.deep.equal(stops.slice(0, 4));
    expect((await asked('message')).stop_sequences).to.deep.equal(['a', 'c', 'd', 'e', 'f']);
    expect((await asked('contents')).generationConfig.stopSequences).to.deep.equal(stops.slice(0, 5));
    expect(JSON.stringify(await asked('responses'))).to.not.contain('stop');
    expect(await asked('chat-caching')).to.not.have.property('stop');
  });

  it('reach a plugin of contract 1 as it knows them', async () => {
    const cached = { cache_control: { type: 'ephemeral' } };
    const body = {
      model: 'old',
      system: [{ ...text('Be'), ...cached }, text('brief.')],
      tools: [{ ...look, ...cached }],
      messages: [user([{ ...text('a'), ...cached }])],
    };
    const sent = await stage.ask(MESSAGES, body);
    const tools = { list: [{ name: 'look', schema: look.input_schema }] };
    expect(sent).to.deep.include({ system: 'Be\n\nbrief.', messages: [user([text('a')])] });
    expect(sent.tools.list).to.deep.equal(tools.list);
    const reply = await send(stage.gateway.url + MESSAGES, {
      key: stage.account.key,
      body: { max_tokens: 50, ...body },
    });
    const [call] = reply.json.content;
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
    const messages = [...body.messages, { role: 'assistant', content: [thinking, call] }, user([result(call.id)])];
    const again = await stage.ask(MESSAGES, { ...body, messages });
    expect(again.messages[1].content).to.deep.equal([
      { type: 'tool-call', id: 'call_1', name: 'look', json: '{}', state: 'kept by us' },
    ]);
  });
});
