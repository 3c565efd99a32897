// A search for tools that the client runs, over an upstream of each wire format: the model calls it like a function, and
// what it has found is among the tools of the next request.
import { expect } from 'chai';
import { parseEvents, RESPONSES, send } from '../../testkit/client.ts';
import { type Behaviour, SSE } from '../../testkit/upstream.ts';
import { FORMATS, type Json, type RequestStage, sayHi, startRequestStage, user } from './request-stage.ts';

type Format = (typeof FORMATS)[number];

const QUERY = { query: 'files', limit: 3 };
const JSON_QUERY = JSON.stringify(QUERY);
const parameters = { type: 'object', properties: { query: { type: 'string' } } };
const SEARCH = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters };
const FOUND = {
  type: 'namespace',
  name: 'mcp__files__',
  description: 'Files.',
  tools: [{ type: 'function', name: 'read', description: 'Reads one.', defer_loading: true, parameters }],
};

const call = (id: string, name: string, json: string): Readonly<Record<Format, readonly object[]>> => {
  const item = { type: 'function_call', id: 'fc_1', call_id: id, name, arguments: json };
  return {
    chat: [
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id, function: { name, arguments: json } }] } }] },
      {
        choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
        usage: { prompt_tokens: 20, completion_tokens: 10 },
      },
    ],
    message: [
      { type: 'message_start', message: { id: 'm1', usage: { input_tokens: 20, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id, name } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ],
    contents: [
      {
        candidates: [
          { content: { parts: [{ functionCall: { id, name, args: JSON.parse(json) } }] }, finishReason: 'STOP' },
        ],
        usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10 },
      },
    ],
    responses: [
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: { status: 'completed', output: [item], usage: { input_tokens: 20, output_tokens: 10 } },
      },
    ],
  };
};

const answer =
  (events: readonly object[]): Behaviour =>
  ({ response }) =>
    void response.writeHead(200, SSE).end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

describe('a search for tools by the client', () => {
  let stage: RequestStage;

  before(async () => {
    stage = await startRequestStage();
  });
  after(() => stage.stop());

  const ask = async (body: object) => {
    const reply = await send(stage.gateway.url + RESPONSES, { key: stage.account.key, body });
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };
  const asked = (): Json => stage.upstream.calls.at(-1)?.body;

  for (const format of FORMATS) {
    it(`finds tools that the model then calls, over a ${format} upstream`, async () => {
      stage.upstream.behave(answer(call('call_1', 'tool_search', JSON_QUERY)[format]));
      const body = { model: format, tools: [SEARCH, { type: 'web_search' }] };
      const { json } = await ask({ ...body, input: 'Read it.' });
      const [searched] = json.output;
      expect(json.output).to.have.length(1);
      expect(searched).to.deep.include({ type: 'tool_search_call', status: 'completed', execution: 'client' });
      expect(searched.arguments).to.deep.equal(QUERY);
      expect(JSON.stringify(asked())).to.contain('Finds tools.').and.not.to.contain('web_search');

      const { text } = await ask({ ...body, input: 'Read it.', stream: true });
      const events = parseEvents(text).map(({ data }) => data);
      const [added, done] = events.filter(({ item }) => item);
      expect(added).to.deep.include({ type: 'response.output_item.added' });
      expect(added.item).to.deep.include({ type: 'tool_search_call', status: 'in_progress', arguments: {} });
      expect(done.item).to.deep.include({ type: 'tool_search_call', status: 'completed', arguments: QUERY });
      expect(events.filter(({ type }) => /arguments|delta/.test(type))).to.deep.equal([]);
      expect(events.at(-1).response.output).to.deep.equal([done.item]);

      stage.upstream.behave(answer(call('call_2', 'mcp__files__read', '{}')[format]));
      const output = { type: 'tool_search_output', call_id: searched.call_id, execution: 'client', tools: [FOUND] };
      const next = await ask({ ...body, input: [user('Read it.'), searched, output] });
      expect(next.json.output[0]).to.deep.include({ type: 'function_call', name: 'read', namespace: 'mcp__files__' });
      const sent = JSON.stringify(asked());
      expect(sent).to.contain('mcp__files__read: Reads one.');
      expect(sent).to.match(/"name":"mcp__files__read","description":"Reads one\."/);
    });
  }

  it('may find nothing, and tools again', async () => {
    stage.upstream.behave(sayHi);
    const search = (id: string) => ({ ...SEARCH, type: 'tool_search_call', call_id: id, arguments: QUERY });
    const found = (id: string, tools: readonly object[]) => ({
      type: 'tool_search_output',
      call_id: id,
      execution: 'client',
      tools,
    });
    const items = [
      { ...search('a'), arguments: JSON_QUERY },
      found('a', []),
      search('b'),
      found('b', [FOUND]),
      search('c'),
      found('c', [FOUND]),
    ];
    await ask({ model: 'chat', tools: [SEARCH], input: [user('Read it.'), ...items] });
    const { messages, tools } = asked();
    const [{ function: first }] = messages[1].tool_calls;
    expect(first).to.deep.equal({ name: 'tool_search', arguments: JSON_QUERY });
    expect(messages[2]).to.include({ role: 'tool', content: 'No tools were found.' });
    expect(tools.map((tool: Json) => tool.function.name)).to.deep.equal(['tool_search', 'mcp__files__read']);
  });
});
