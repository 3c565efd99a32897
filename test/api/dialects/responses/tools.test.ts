// The tools of a responses request as functions, and those that items tell anew.
import { expect } from 'chai';
import { readResponsesTools } from '../../../../lib/api/dialects/responses/tools.ts';

const made = (name: string, more: object = {}) => ({ type: 'function', name, ...more });
const custom = (name: string) => ({ type: 'custom', name });
const within = (...tools: readonly object[]) => ({ type: 'namespace', name: 'files', tools });
const read = (tools: readonly object[], ...added: readonly object[]) =>
  readResponsesTools(
    { tools },
    added.map((tool) => ({ tool, field: 'input[0].tools[0]' })),
  );

describe('tools of a responses request', () => {
  it('are replaced by those of their name that items tell anew', () => {
    const told = read([made('a'), made('b')], made('a', { description: 'New.' })).tools?.list;
    expect(told?.map(({ name, description }) => [name, description])).to.deep.equal([
      ['a', 'New.'],
      ['b', undefined],
    ]);
    const inner = read([within(made('a'))], within(made('a', { description: 'New.' }))).tools?.list;
    expect(inner?.map(({ name, description }) => [name, description])).to.deep.equal([['files__a', 'New.']]);
  });

  it('are no longer custom once they are told anew as functions', () => {
    expect([...read([custom('a')]).names]).to.deep.equal([['a', { name: 'a', isCustom: true }]]);
    const { tools, names } = read([custom('a')], made('a'));
    expect([...names]).to.deep.equal([]);
    expect(tools).to.deep.equal(read([made('a')]).tools);
  });

  it('have names of their own only in namespaces, as custom tools and as searches', () => {
    expect([...read([made('a'), within(made('b'))]).names]).to.deep.equal([
      ['files__b', { name: 'b', namespace: 'files' }],
    ]);
  });

  it('are searches only by their type and by who runs them', () => {
    const search = { type: 'tool_search', execution: 'client' };
    expect([...read([search]).names.values()]).to.deep.equal([{ name: 'tool_search', isSearch: true }]);
    for (const other of [{ type: 'tool_search' }, { type: 'web_search', execution: 'client' }])
      expect(read([other])).to.deep.equal({ tools: undefined, names: new Map() });
  });

  it('get arguments of a search in plain text, too', () => {
    const parameters = { type: 'object', properties: { goal: { type: 'string', encrypted: true } } };
    const [search] = read([{ type: 'tool_search', execution: 'client', parameters }]).tools?.list ?? [];
    expect(search?.schema).to.deep.equal({ type: 'object', properties: { goal: { type: 'string' } } });
  });

  it('name the first that would run at a vendor where a call is required', () => {
    const tools = [{ type: 'web_search' }, { type: 'file_search' }];
    expect(() => readResponsesTools({ tools, tool_choice: 'required' })).to.throw(/web_search/);
  });
});
