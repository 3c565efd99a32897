// The tools of a responses request as functions, and those that items tell anew.
import { expect } from 'chai';
import { describeFoundTools, flattenTools, readResponsesTools } from '../../../../lib/api/dialects/responses/tools.ts';

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

  it('are demanded by a type and a name, or allowed as a list', () => {
    const tools = [made('a'), custom('b')];
    const choose = (choice: unknown) => readResponsesTools({ tools, tool_choice: choice }).tools;
    for (const type of ['function', 'custom']) expect(choose({ type, name: 'a' })?.choice).to.deep.equal({ name: 'a' });
    const wrong: readonly (readonly [choice: object, field: string, hint: string])[] = [
      [{ name: 'a' }, 'tool_choice.type', 'must be a string'],
      [{ type: 'file_search' }, 'tool_choice.type', 'demands a call, but'],
      [{ type: 'function' }, 'tool_choice.name', 'must be'],
      [{ type: 'allowed_tools', tools }, 'tool_choice.mode', 'must be auto or required'],
      [{ type: 'allowed_tools', mode: 'auto' }, 'tool_choice.tools', 'must be a list, not empty'],
      [{ type: 'allowed_tools', mode: 'auto', tools: [] }, 'tool_choice.tools', 'must be a list, not empty'],
      [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom' }] }, 'tool_choice.tools[0].name', 'must be'],
    ];
    for (const [choice, field, hint] of wrong) expect(() => choose(choice), field).to.throw(`\`${field}\`: ${hint}`);
  });
});

describe('tools of a chat in a responses request', () => {
  const nested = (name: string) => ({ type: 'function', function: { name, description: 'Does.', strict: true } });
  const flat = (name: string) => made(name, { description: 'Does.', strict: true });

  it('become flat, and so does the choice of one', () => {
    const tools = [nested('a'), made('b'), custom('c'), { type: 'web_search' }];
    const fields = { model: 'm', tools, tool_choice: { type: 'function', function: { name: 'a' } } };
    expect(flattenTools(fields)).to.deep.equal({
      model: 'm',
      tools: [flat('a'), ...tools.slice(1)],
      tool_choice: made('a'),
    });
    expect(flattenTools({ tools: null, tool_choice: fields.tool_choice })).to.include({ tools: undefined });
  });

  it('are otherwise left as they are', () => {
    for (const tools of [
      undefined,
      null,
      [],
      [made('a')],
      [{ ...nested('a'), name: 'b' }],
      [{ type: 'function' }],
      [5],
    ]) {
      const fields = { tools, tool_choice: 'auto' };
      expect(flattenTools(fields)).to.equal(fields);
    }
  });
});

describe('tools that a search has found', () => {
  it('are told by name, within their namespaces, with what they are for', () => {
    const found = [
      made('a', { description: 'Adds.' }),
      within(made('b', { description: '' }), { type: 'function' }),
      5,
    ];
    expect(describeFoundTools(found)).to.equal('a: Adds.\nfiles__b');
  });

  it('may be none', () => {
    for (const none of [[], undefined, 'a', [{ type: 'namespace', name: 'files' }]]) {
      expect(describeFoundTools(none)).to.equal('No tools were found.');
    }
  });
});
