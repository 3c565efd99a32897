// Tools that come and go within a conversation.
import { expect } from 'chai';
import { parseMessageRequest } from '../../../../lib/api/dialects/message/request.ts';
import { changeTools } from '../../../../lib/api/dialects/message/tool-changes.ts';

const schema = { type: 'object', properties: {} };
const tool = (name: string, more: object = {}) => ({ name, input_schema: schema, ...more });
const named = (name: string) => ({ type: 'tool_reference', name });
const defined = (name: string, more: object = {}) => ({ type: 'tool_definition', definition: tool(name, more) });
const add = (what: object) => ({ type: 'tool_addition', tool: what });
const remove = (name: string) => ({ type: 'tool_removal', tool: named(name) });
const system = (...content: object[]) => ({ role: 'system', content });
const user = { role: 'user', content: 'hi' };

const change = (tools: readonly object[], ...messages: object[]) => changeTools(tools, [user, ...messages]);
const read = (tools: readonly object[], ...messages: object[]) =>
  parseMessageRequest({ model: 'm', tools, messages: [user, ...messages] });

describe('changes of tools in a conversation', () => {
  it('are none in most', () => {
    const tools = [tool('a'), tool('b', { defer_loading: true })];
    expect(change(tools, system({ type: 'text', text: 'Late.' }), { role: 'system', content: 'x' })).to.deep.equal({
      tools,
    });
    expect(change(tools).tools).to.equal(tools);
  });

  it('add a tool that was deferred, or that comes with them', () => {
    const { tools, fields } = change(
      [tool('a'), tool('b', { defer_loading: true }), tool('c', { defer_loading: true })],
      system({ type: 'text', text: 'More.' }, add(named('b')), add(defined('d', { description: 'D.' }))),
    );
    expect(tools).to.deep.equal([
      tool('a'),
      tool('c', { defer_loading: true }),
      tool('b'),
      tool('d', { description: 'D.' }),
    ]);
    expect(fields).to.deep.equal(['tools[0]', 'tools[2]', 'tools[1]', 'messages[1].content[2].tool.definition']);
  });

  it('remove one, which may come back, also as another', () => {
    const tools = [tool('a'), tool('b')];
    const gone = system(remove('b'));
    expect(change(tools, gone).tools).to.deep.equal([tool('a')]);
    expect(change(tools, gone, system(add(named('b')))).tools).to.deep.equal(tools);
    const newer = system(add(defined('b', { description: 'Newer.' })));
    expect(change(tools, gone, newer).tools).to.deep.equal([tool('a'), tool('b', { description: 'Newer.' })]);
    expect(change(tools, newer, gone, system(add(named('b')))).tools).to.deep.equal([
      tool('a'),
      tool('b', { description: 'Newer.' }),
    ]);
  });

  it('are left out where they say nothing', () => {
    const tools = [tool('a')];
    const toolset = { type: 'mcp_toolset_reference', server_name: 's' };
    for (const block of [add(named('z')), add(toolset), { type: 'tool_addition' }, add({ type: 'tool_definition' })])
      expect(change(tools, system(block)).tools).to.equal(tools);
    expect(change(tools, { role: 'user', content: [remove('a')] }).tools).to.equal(tools);
  });

  it('count in a request, whose words stay', () => {
    const { tools, messages } = read([tool('a')], system({ type: 'text', text: 'More.' }, add(defined('b'))));
    expect(tools?.list.map(({ name }) => name)).to.deep.equal(['a', 'b']);
    expect(messages.at(-1)).to.deep.equal({ role: 'system', content: [{ type: 'text', text: 'More.' }] });
    expect(read([tool('a')], system(remove('a'))).tools).to.equal(undefined);
    expect(read([], system(add(defined('b')))).tools?.list).to.have.length(1);
  });

  it('are refused by the place of a wrong definition', () => {
    expect(() => read([], system(add(defined('a b'))))).to.throw('`messages[1].content[0].tool.definition.name`');
  });
});
