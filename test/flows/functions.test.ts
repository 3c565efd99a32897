// Clients from before tools: `functions` are called one at a time, and their calls come back in the old shape.
import { expect } from 'chai';
import { parseChatRequest } from '../../lib/api/dialects/chat/request.ts';
import { ask, CHAT, parseEvents, send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';

const LOOK = { name: 'look', parameters: { type: 'object', properties: { city: { type: 'string' } } } };
const CALL = { name: 'look', arguments: '{"city":"A\\nB"}' };
const PROMPT = `[[tool:look ${CALL.arguments}]] [[tool:look ${CALL.arguments}]]`;

describe('functions of old clients', () => {
  let gateway: TestGateway;

  before(async () => {
    const made = { type: 'text', provider: 'Test', tools: true, price: { input: '1000', output: '5000' } };
    const models = [{ ...made, id: 'made', routes: [{ upstream: 'sandbox', model: 'standard' }] }];
    gateway = await startGateway({ catalog: { upstreams: { sandbox: { plugin: 'sandbox' } }, models } });
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
  });

  const call = async (more: object) => {
    const { key } = await gateway.account();
    const reply = await send(gateway.url + CHAT, { key, body: ask(PROMPT, { model: 'made', ...more }) });
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };

  it('are answered with one call', async () => {
    const { json } = await call({ functions: [LOOK] });
    const [{ message, finish_reason: reason }] = json.choices;
    expect(message).to.deep.equal({ role: 'assistant', content: null, function_call: CALL });
    expect(reason).to.equal('function_call');
    // As it goes back, with its result.
    const once = { role: 'user', content: PROMPT.split(' [[')[0] };
    const messages = [once, message, { role: 'function', name: 'look', content: 'sunny' }];
    const next = await call({ functions: [LOOK], messages });
    expect(next.json.choices[0].message.content).to.contain('sunny');
    expect(next.json.choices[0].finish_reason).to.equal('stop');
  });

  it('are answered in pieces on a stream', async () => {
    const { text } = await call({ functions: [LOOK], stream: true });
    const choices = parseEvents(text)
      .filter(({ data }) => data.choices)
      .map(({ data }) => data.choices[0]);
    const pieces = choices.flatMap(({ delta }) => delta.function_call ?? []);
    expect(pieces[0]).to.deep.equal({ name: 'look', arguments: '' });
    expect(pieces.map((piece) => piece.arguments).join('')).to.equal(CALL.arguments);
    expect(choices.at(-1).finish_reason).to.equal('function_call');
    expect(text).to.not.contain('tool_calls');
  });

  it('give way to tools', async () => {
    const { json } = await call({ functions: [LOOK], tools: [{ type: 'function', function: LOOK }] });
    expect(json.choices[0].message.tool_calls).to.have.length(2);
    expect(json.choices[0].finish_reason).to.equal('tool_calls');
  });

  describe('and custom tools', () => {
    const INPUT = 'a "b"\n\tc \\ ж';
    const patch = (format: object) => ({ type: 'custom', custom: { name: 'patch', description: 'Patches.', format } });
    const TOOLS = [patch({ type: 'text' }), { type: 'function', function: LOOK }];
    const asking = `[[tool:patch ${JSON.stringify({ input: INPUT })}]]`;
    const body = { tools: TOOLS, messages: [{ role: 'user', content: asking }] };

    it('are called with plain text', async () => {
      const { json } = await call(body);
      const [{ message, finish_reason: reason }] = json.choices;
      const [made] = message.tool_calls;
      expect(made).to.deep.equal({ id: made.id, type: 'custom', custom: { name: 'patch', input: INPUT } });
      expect(reason).to.equal('tool_calls');
      const result = { role: 'tool', tool_call_id: made.id, content: 'patched' };
      const next = await call({ ...body, messages: [...body.messages, message, result] });
      expect(next.json.choices[0].message.content).to.contain('patched');
    });

    it('are called in pieces on a stream, next to functions', async () => {
      const messages = [{ role: 'user', content: `${asking} [[tool:look ${CALL.arguments}]]` }];
      const { text } = await call({ ...body, messages, stream: true });
      const pieces = parseEvents(text).flatMap(({ data }) => data.choices?.[0].delta.tool_calls ?? []);
      expect(pieces[0]).to.deep.include({ index: 0, type: 'custom', custom: { name: 'patch', input: '' } });
      const join = (index: number, read: (piece: (typeof pieces)[number]) => string) =>
        pieces
          .filter((piece) => piece.index === index)
          .map(read)
          .join('');
      expect(join(0, ({ custom }) => custom.input)).to.equal(INPUT);
      expect(join(1, ({ function: called }) => called.arguments)).to.equal(CALL.arguments);
    });

    it('may be demanded, and have their grammar in their description', async () => {
      const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } };
      const choice = { type: 'custom', custom: { name: 'patch' } };
      const { json } = await call({ ...body, tools: [patch(grammar)], tool_choice: choice });
      expect(json.choices[0].message.tool_calls[0].custom.input).to.equal(INPUT);
      const parsed = parseChatRequest({ model: 'made', messages: body.messages, tools: [patch(grammar)] });
      const [tool] = parsed.tools?.list ?? [];
      expect(tool?.description).to.equal('Patches.\n\nThe input follows this lark grammar:\n\nstart: "x"');
    });
  });
});
