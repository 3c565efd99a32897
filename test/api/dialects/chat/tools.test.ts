// What becomes of the tools of a chat, in the shapes of today and of old clients.
import { expect } from 'chai';
import { type ChatToolFields, readCallEcho, readChatTools } from '../../../../lib/api/dialects/chat/tools.ts';

const SCHEMA = { type: 'object', properties: {} };
const F = {
  type: 'function',
  function: { name: 'f', description: 'd', parameters: { type: 'object', properties: { a: {} } } },
};
const G = { type: 'function', function: { name: 'g' } };
const patch = (format?: unknown) => ({ type: 'custom', custom: { name: 'patch', description: 'Patches.', format } });
const GRAMMAR = { type: 'grammar', syntax: 'lark', definition: 'x' };
const functions = [{ name: 'f' }, { name: 'g' }];

const read = (fields: object) => readChatTools(fields as ChatToolFields);
const allow = (mode: string, ...tools: object[]) => ({ type: 'allowed_tools', allowed_tools: { mode, tools } });

function refusal(fields: object): string {
  try {
    read(fields);
  } catch (error) {
    return (error as Error).message;
  }
  return 'taken';
}

describe('the tools of a chat', () => {
  it('are none without any, in either shape', () => {
    for (const fields of [{}, { tools: [] }, { functions: [] }, { tools: null, functions: null }])
      expect(read(fields)).to.be.undefined;
  });

  it('keep their names, descriptions and parameters', () => {
    expect(read({ tools: [F, G] })?.list).to.deep.equal([
      { name: 'f', description: 'd', schema: F.function.parameters },
      { name: 'g', schema: SCHEMA },
    ]);
  });

  const CHOICES: readonly (readonly [given: unknown, choice: unknown])[] = [
    [undefined, undefined],
    [null, undefined],
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'any'],
    ['any', 'any'],
    [{ type: 'function', function: { name: 'g' } }, { name: 'g' }],
    [{ type: 'function', name: 'g' }, { name: 'g' }],
    [{ type: 'custom', custom: { name: 'patch' } }, { name: 'patch' }],
    [{ type: 'auto' }, 'auto'],
    [{ type: 'none' }, 'none'],
    [{ type: 'any' }, 'any'],
    [{ type: 'tool', name: 'g' }, { name: 'g' }],
    [allow('auto', G), 'auto'],
    [allow('required', G), 'any'],
  ];
  for (const [given, choice] of CHOICES) {
    it(`are chosen by ${JSON.stringify(given)}`, () => {
      expect(read({ tools: [F, G, patch()], tool_choice: given })?.choice).to.deep.equal(choice);
    });
  }

  it('are the allowed ones alone', () => {
    const chosen = allow('auto', { type: 'custom', custom: { name: 'patch' } }, { type: 'function', name: 'g' });
    expect(read({ tools: [F, G, patch()], tool_choice: chosen })?.list.map(({ name }) => name)).to.deep.equal([
      'g',
      'patch',
    ]);
  });

  it('are called one at a time where that is asked for', () => {
    const single = [undefined, true, false].map(
      (parallel) => read({ tools: [F], parallel_tool_calls: parallel })?.single,
    );
    expect(single.map(Boolean)).to.deep.equal([false, false, true]);
  });

  const TOLD = 'Patches.\n\nThe input follows this lark grammar:\n\nx';
  const FORMATS: readonly (readonly [format: unknown, description: string, kept: unknown])[] = [
    [undefined, 'Patches.', undefined],
    [5, 'Patches.', undefined],
    [{ type: 'text' }, 'Patches.', { type: 'text' }],
    [GRAMMAR, TOLD, GRAMMAR],
    [{ type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } }, TOLD, GRAMMAR],
    [{ type: 'grammar', grammar: { syntax: 'lark' } }, 'Patches.', undefined],
    [{ type: 'grammar', grammar: { syntax: 5, definition: 'x' } }, 'Patches.', undefined],
  ];
  for (const [format, description, kept] of FORMATS) {
    it(`are functions of one text if they are custom, with the format ${JSON.stringify(format)}`, () => {
      const fields = { tools: [F, patch(format)] };
      const [, tool] = read(fields)?.list ?? [];
      expect(tool).to.deep.include({ name: 'patch', description });
      expect(tool?.schema).to.have.deep.property('required', ['input']);
      expect(tool?.custom).to.deep.equal({ description: 'Patches.', ...(kept !== undefined && { format: kept }) });
      expect(readCallEcho(fields as unknown as ChatToolFields)).to.deep.equal({ echo: { customNames: ['patch'] } });
    });
  }

  it('may stand among others in the shapes of the other dialects', () => {
    const flat = { type: 'custom', name: 'patch', description: 'Patches.', format: GRAMMAR };
    const fields = { tools: [F, flat], tool_choice: { type: 'custom', name: 'patch' } };
    expect(read(fields)).to.deep.equal(read({ ...fields, tools: [F, patch(GRAMMAR)] }));
    expect(readCallEcho(fields as unknown as ChatToolFields)).to.deep.equal({ echo: { customNames: ['patch'] } });
    const { parameters } = F.function;
    for (const type of [undefined, null, 'custom']) {
      const given = {
        type,
        name: 'f',
        description: 'd',
        input_schema: parameters,
        cache_control: { type: 'ephemeral' },
      };
      const tools = { tools: [given, G] };
      expect(read(tools)?.list).to.deep.equal([
        { name: 'f', description: 'd', schema: parameters, cache: { ttl: '5m' } },
        { name: 'g', schema: SCHEMA },
      ]);
      expect(readCallEcho(tools as unknown as ChatToolFields)).to.deep.equal({});
    }
  });

  const CALLS: readonly (readonly [given: unknown, choice: unknown])[] = [
    [undefined, undefined],
    ['auto', 'auto'],
    ['none', 'none'],
    [{ name: 'g' }, { name: 'g' }],
  ];
  for (const [given, choice] of CALLS) {
    it(`of old clients are called one at a time, chosen by ${JSON.stringify(given)}`, () => {
      const tools = read({ functions, function_call: given, tool_choice: 'required' });
      expect(tools?.list.map(({ name }) => name)).to.deep.equal(['f', 'g']);
      expect(tools).to.include({ single: true });
      expect(tools?.choice).to.deep.equal(choice);
    });
  }

  it('of old clients count only without others, and are answered in their shape', () => {
    expect(read({ tools: [G], functions, function_call: 'none' })).to.deep.include({
      list: [{ name: 'g', schema: SCHEMA }],
    });
    const echoes = [{}, { tools: [G] }, { tools: [G], functions }, { functions }, { tools: [], functions }];
    expect(echoes.map((fields) => readCallEcho(fields as ChatToolFields))).to.deep.equal([
      {},
      {},
      {},
      { echo: { functions: true } },
      { echo: { functions: true } },
    ]);
  });

  const WRONG: readonly (readonly [fields: object, words: string])[] = [
    [{ functions, function_call: {} }, 'Invalid `function_call.name`: must be a string.'],
    [{ functions, function_call: { name: 5 } }, 'Invalid `function_call.name`: must be a string.'],
    [
      { functions, function_call: { name: 'h' } },
      'Invalid `function_call.name`: is not the name of a tool in `functions`',
    ],
    [{ functions: [], function_call: { name: 'f' } }, 'Invalid `function_call`: requires a call'],
    [{ functions: [{ name: 'f' }, null] }, 'Invalid `functions[1]`: must be an object.'],
    [{ functions: [{ name: 'a b' }] }, 'Invalid `functions[0].name`'],
    [{ functions: [{ name: 'f', parameters: 'x' }] }, 'Invalid `functions[0].parameters`'],
    [{ functions: [...functions, { name: 'f' }] }, 'Invalid `functions[2].name`: is already the name of functions[0]'],
    [{ functions: [{ name: 'f', description: 'd'.repeat(2 ** 20) }] }, 'Invalid `functions`: must have at most'],
    [{ tools: [F], tool_choice: { type: 'function', function: { name: 'h' } } }, 'Invalid `tool_choice.function.name`'],
    [{ tools: [F], tool_choice: { type: 'function' } }, 'Invalid `tool_choice.function.name`: must be a string.'],
    [{ tools: [F, { type: 'custom', custom: 'patch' }] }, 'Invalid `tools[1].custom`: must be an object.'],
    [{ tools: [F, patch(), { type: 'custom', custom: { name: 5 } }] }, 'Invalid `tools[2].'],
    [{ tools: [F, { type: 'custom', name: 5 }] }, 'Invalid `tools[1].custom`: must be an object.'],
    [{ tools: [F], tool_choice: { type: 'tool' } }, 'Invalid `tool_choice.function.name`: must be a string.'],
    [{ tools: [F], tool_choice: { type: 'web_search' } }, 'Invalid `tool_choice.type`: must be function, custom or'],
  ];
  for (const [fields, words] of WRONG) {
    it(`are refused with the field: ${words}`, () => {
      expect(refusal(fields)).to.contain(words);
    });
  }
});
