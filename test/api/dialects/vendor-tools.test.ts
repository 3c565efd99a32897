// Tools that are not the client's own definition alone: those of a vendor's that the client runs, and those in namespaces.
import { expect } from 'chai';
import { parseMessageRequest } from '../../../lib/api/dialects/message/request.ts';
import { joinToolName } from '../../../lib/api/dialects/responses/tools.ts';
import { type Json, parse } from './responses/stage.ts';

const messages = [{ role: 'user', content: 'hi' }];
const own = { name: 'look', input_schema: { type: 'object', properties: {} } };

describe('tools of a vendor in the messages format', () => {
  const read = (...tools: object[]) => parseMessageRequest({ model: 'm', max_tokens: 9, messages, tools }).tools;

  it('go on as they are, without a marker and callers, under their name or else their type', () => {
    const bash = { type: 'bash_20250124', name: 'bash' };
    const set = { type: 'computer_toolset_20250124', size: 3 };
    const marked = { ...set, cache_control: { type: 'ephemeral' }, allowed_callers: ['x'] };
    const tools = read(own, bash, marked);
    const [, first, second] = tools?.list ?? [];
    expect(first).to.deep.include({ name: 'bash', isPredefined: true, messageFields: bash });
    expect(second).to.deep.include({ name: set.type, isPredefined: true, messageFields: set, cache: { ttl: '5m' } });
    expect(tools?.predefined).to.deep.equal({ field: 'tools[1].type', type: 'bash_20250124' });
    expect(read(own)).not.to.have.property('predefined');
    expect(read(bash)?.predefined).to.deep.equal({ field: 'tools[0].type', type: 'bash_20250124' });
    const removal = { type: 'tool_removal', tool: { type: 'tool_reference', name: 'look' } };
    const changed = [...messages, { role: 'system', content: [removal] }];
    const request = { model: 'm', max_tokens: 9, messages: changed, tools: [own, bash] };
    expect(parseMessageRequest(request).tools?.predefined?.field).to.equal('tools[1].type');
    expect(() => read({ ...bash, name: 'ba sh' })).to.throw('`tools[0].name`');
    expect(() => read({ ...bash, type: 'web_search_20250305' })).to.throw('such as bash_20250124');
  });

  it('may be deferred, like those of the client', () => {
    const fields = { defer_loading: true, input_examples: [{ a: 1 }] };
    expect(read({ ...own, ...fields, eager_input_streaming: null })?.list[0]).to.deep.include({
      messageFields: fields,
    });
    expect(read({ ...own, defer_loading: null })?.list[0]).not.to.have.property('messageFields');
    expect(() => read({ ...own, defer_loading: 'yes' })).to.throw('`tools[0].defer_loading`: must be a boolean');
  });
});

describe('tools in namespaces', () => {
  const named = (name: unknown, more: object = {}) => ({ type: 'function', name, parameters: null, ...more });
  const space = (name: unknown, ...tools: unknown[]) => ({ type: 'namespace', name, tools });
  const read = (tools: unknown[], more: object = {}): Json => parse({ input: 'hi', tools, ...more }).tools;

  it('have names of both, as long as a name may be', () => {
    expect(read([space('files', named('read')), named('look')]).list.map(({ name }: Json) => name)).to.deep.equal([
      'files__read',
      'look',
    ]);
    expect(joinToolName('files__', 'read')).to.equal('files__read');
    const fits = joinToolName('n'.repeat(100), 'x'.repeat(26));
    expect(fits).to.equal(`${'n'.repeat(100)}__${'x'.repeat(26)}`);
    const [one, other] = ['x', 'y'].map((end) => joinToolName('n'.repeat(100), `${'x'.repeat(26)}${end}`));
    expect([one?.length, other?.length, one === other]).to.deep.equal([128, 128, false]);
  });

  it('are refused without a name, and without tools that are some', () => {
    for (const name of ['', 5, undefined]) {
      expect(() => read([space(name, named('a'))])).to.throw('`tools[0].name`: must be a string and not empty');
    }
    expect(() => read([{ type: 'namespace', name: 'a' }])).to.throw('`tools[0].tools`');
    expect(() => read([space('a', 5)])).to.throw('`tools[0].tools[0]`');
  });

  it('may be chosen by both names, or be among those that are allowed', () => {
    const tools = [space('files', named('read'), named('write')), named('look')];
    const of = (tool_choice: object) => read(tools, { tool_choice });
    expect(of({ type: 'function', name: 'read', namespace: 'files' }).choice).to.deep.equal({ name: 'files__read' });
    const allowed = (mode: string) => ({ type: 'allowed_tools', mode, tools: [named('look')] });
    expect([of(allowed('auto')).choice, of(allowed('required')).choice]).to.deep.equal(['auto', 'any']);
    expect(() => of(allowed('none'))).to.throw('`tool_choice.mode`: must be auto or required');
    expect(() => of({ type: 'allowed_tools', mode: 'auto', tools: [named(5)] })).to.throw(
      '`tool_choice.tools[0].name`',
    );
    expect(() => of({ type: 'function', name: 5 })).to.throw('`tool_choice.name`');
  });

  it('have no argument that a vendor would encrypt', () => {
    const parameters = {
      type: 'object',
      properties: {
        plain: { type: 'string', encrypted: false },
        secret: { type: 'string', encrypted: true },
        odd: true,
      },
    };
    expect(read([named('look', { parameters })]).list[0].schema.properties).to.deep.equal({
      plain: { type: 'string', encrypted: false },
      secret: { type: 'string' },
      odd: {},
    });
  });
});
