// Histories with items of a vendor's own tools, and what models of other vendors read of them.
import { expect } from 'chai';
import { isFault } from '../../../../lib/base/faults.ts';
import type { TextCall } from '../../../../lib/upstream/contract/provider.ts';
import { chatBody } from '../../../../lib/upstream/formats/chat/request.ts';
import { contentsBody } from '../../../../lib/upstream/formats/contents/request.ts';
import { messageBody } from '../../../../lib/upstream/formats/message/request.ts';
import { responsesBody } from '../../../../lib/upstream/formats/responses/request.ts';
import { type Json, parse } from './stage.ts';

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const said = (text: string) => ({ role: 'assistant', content: [{ type: 'output_text', text }] });
const base64 = () => {
  throw new Error('there are no bytes');
};
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

/** Roles, and the content of all messages without text. */
function readHistory(input: readonly object[]): Json {
  return parse({ input }).messages.map(({ role, content }) => [role, ...content.map(shorten)]);
}

function shorten(part: Json): unknown {
  if (part.type === 'text') return part.text;
  if (part.type === 'tool-call') return `${part.id} ${part.name} ${part.json}`;
  if (part.type === 'tool-result')
    return { [part.id]: part.content.map(shorten), ...(part.isError && { failed: true }) };
  return part.type === 'reasoning' ? (part.state?.value ?? part.text) : part.type;
}

const shellCall = { type: 'shell_call', id: 'sh_1', call_id: 'c1', action: { commands: ['ls'] }, status: 'completed' };
const shellOutput = {
  type: 'shell_call_output',
  call_id: 'c1',
  output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
};

describe("items of a vendor's own tools", () => {
  const pairs: readonly (readonly [call: object, output: object, told: string, result: object])[] = [
    [shellCall, shellOutput, 'c1 shell {"commands":["ls"]}', { c1: [JSON.stringify(shellOutput.output)] }],
    [
      { type: 'local_shell_call', id: 'l1', call_id: 'c1', action: { type: 'exec', command: ['ls'], env: {} } },
      { type: 'function_call_output', call_id: 'c1', output: 'a' },
      'c1 local_shell {"type":"exec","command":["ls"],"env":{}}',
      { c1: ['a'] },
    ],
    [
      { type: 'local_shell_call', id: 'l1', call_id: null, action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'l1', output: '{"output":"a"}' },
      'l1 local_shell {"type":"exec","command":["ls"]}',
      { l1: ['{"output":"a"}'] },
    ],
    [
      { type: 'apply_patch_call', call_id: 'c1', operation: { type: 'update_file', path: 'a', diff: '@@' } },
      { type: 'apply_patch_call_output', call_id: 'c1', status: 'failed', output: 'No such file.' },
      'c1 apply_patch {"type":"update_file","path":"a","diff":"@@"}',
      { c1: ['No such file.'], failed: true },
    ],
    [
      { type: 'apply_patch_call', call_id: 'c1' },
      { type: 'apply_patch_call_output', call_id: 'c1', status: 'completed', output: null },
      'c1 apply_patch {}',
      { c1: [] },
    ],
    [
      { type: 'computer_call', call_id: 'c1', action: { type: 'click', x: 1 }, pending_safety_checks: [] },
      {
        type: 'computer_call_output',
        call_id: 'c1',
        output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${PIXEL}` },
      },
      'c1 computer {"type":"click","x":1}',
      { c1: ['image'] },
    ],
    [
      { type: 'computer_call', call_id: 'c1', actions: [{ type: 'wait' }] },
      { type: 'computer_call_output', call_id: 'c1' },
      'c1 computer {"actions":[{"type":"wait"}]}',
      { c1: [] },
    ],
    [
      { type: 'program', call_id: 'c1', code: 'x' },
      { type: 'program_output', call_id: 'c1', result: 'y' },
      'c1 program {"code":"x"}',
      { c1: ['y'] },
    ],
  ];
  for (const [call, output, told, result] of pairs) {
    it(`are a call and its result: ${JSON.stringify(call).slice(0, 70)}`, () => {
      const history = readHistory([user('hi'), call, output, said('Done.'), user('go on')]);
      expect(history).to.deep.equal([
        ['user', 'hi'],
        ['assistant', told],
        ['user', result],
        ['assistant', 'Done.'],
        ['user', 'go on'],
      ]);
    });
  }

  it('count a screenshot as an image', () => {
    const [call, output] = pairs[5] as (typeof pairs)[number];
    expect(parse({ input: [user('hi'), call, output] })).to.include({ images: 1, hasCalls: true });
  });

  it('are both where the call ran at the vendor, between what was said', () => {
    const history = readHistory([
      user('hi'),
      said('Let me see.'),
      {
        type: 'mcp_call',
        id: 'm1',
        server_label: 'db',
        name: 'read',
        arguments: '{"n":1}',
        output: 'one',
        error: null,
      },
      { type: 'mcp_call', server_label: 'db', name: 'drop', arguments: '{}', output: null, error: 'No rights.' },
      said('One.'),
      {
        type: 'code_interpreter_call',
        code: '1+1',
        outputs: [
          { type: 'logs', logs: '2' },
          { type: 'image', url: 'x' },
        ],
      },
      { role: 'developer', content: 'Be brief.' },
      { type: 'file_search_call', id: 'f1', queries: ['q'], results: [{ filename: 'a', text: 'b' }] },
      user('go on'),
      { type: 'mcp_call', id: 'm1', name: 'read', arguments: '', output: '' },
    ]);
    expect(history).to.deep.equal([
      ['user', 'hi'],
      ['assistant', 'Let me see.', 'm1 db__read {"n":1}', 'db__drop db__drop {}'],
      ['user', { m1: ['one'] }, { db__drop: ['No rights.'], failed: true }],
      ['assistant', 'One.', 'code_interpreter code_interpreter {"code":"1+1"}'],
      ['user', { code_interpreter: ['2'] }],
      ['system', 'Be brief.'],
      ['assistant', 'f1 file_search {"queries":["q"]}'],
      ['user', { f1: ['[{"filename":"a","text":"b"}]'] }],
      ['user', 'go on'],
      ['assistant', 'm1_2 read {}'],
      ['user', { m1_2: [] }],
    ]);
  });

  it('come with the results of calls that are still open', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' });
    const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: id });
    const mcp = { type: 'mcp_call', id: 'm1', name: 'read', arguments: '{}', output: 'one' };
    expect(readHistory([user('hi'), call('a'), mcp, said('Both.'), call('b'), output('a'), output('b')])).to.deep.equal(
      [
        ['user', 'hi'],
        ['assistant', 'a look {}', 'm1 read {}', 'Both.', 'b look {}'],
        ['user', { a: ['a'] }, { m1: ['one'] }, { b: ['b'] }],
      ],
    );
  });

  it('are left out where they tell nothing', () => {
    const empty = [
      { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'file_search_call', id: 'f', queries: ['q'], results: null },
      { type: 'code_interpreter_call', id: 'c', code: null, outputs: null },
      { type: 'image_generation_call', id: 'i', status: 'failed', result: null },
      { type: 'mcp_call', id: 'm', name: 'read', arguments: '{}', output: null },
      { type: 'mcp_list_tools', id: 'l', server_label: 'db', tools: [] },
      { type: 'mcp_approval_request', id: 'a', name: 'x' },
      { type: 'mcp_approval_response', approval_request_id: 'a', approve: true },
      { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
      { type: 'tool_search_output', call_id: null, execution: 'server', tools: [] },
      { type: 'ghost_snapshot', ghost_commit: {} },
      { type: 'configuration_update', reasoning: { effort: 'low' } },
      { type: 'context_compaction' },
    ];
    for (const item of empty) expect(readHistory([user('hi'), item]), item.type).to.deep.equal([['user', 'hi']]);
  });

  it('are refused where ids do not match', () => {
    const refusalOf = (...items: object[]) => {
      try {
        return parse({ input: [user('hi'), ...items] });
      } catch (error) {
        if (isFault(error)) return error.message;
        throw error;
      }
    };
    expect(refusalOf(shellCall)).to.match(/^Invalid `input\[1\]\.call_id`: is the id of a call without a result/);
    expect(refusalOf(shellOutput)).to.match(/^Invalid `input\[1\]\.call_id`: names no unanswered call/);
    expect(refusalOf({ type: 'computer_call' })).to.match(/^Invalid `input\[1\]\.id`: must be a string and not empty/);
    expect(refusalOf({ type: 'compaction' })).to.match(/^Invalid `input\[1\]\.encrypted_content`: must be a string/);
  });
});

describe('compacted histories', () => {
  const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' };
  const input = [user('first'), item, user('go on'), said('Hm.'), { ...item, type: 'context_compaction' }];
  const { messages } = parse({ input });
  const call = { model: 'm', messages, maxTokens: 9, options: {} } as unknown as TextCall;

  it('go to their vendor in their place', () => {
    expect(responsesBody(call, base64).input).to.deep.equal([
      { role: 'user', content: [{ type: 'input_text', text: 'first' }] },
      item,
      { role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Hm.' }] },
      { ...item, type: 'context_compaction' },
    ]);
  });

  it('are for others what else they have', () => {
    const plain = [
      { role: 'user', content: 'first' },
      { role: 'user', content: 'go on' },
      { role: 'assistant', content: 'Hm.' },
    ];
    expect(chatBody(call, base64).messages).to.deep.equal(plain);
    expect(messageBody(call, base64).messages).to.deep.equal(plain);
    expect(contentsBody(call, base64).contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'first' }] },
      { role: 'user', parts: [{ text: 'go on' }] },
      { role: 'model', parts: [{ text: 'Hm.' }] },
    ]);
  });

  it('need a message besides', () => {
    expect(() => parse({ input: [item] })).to.throw('must contain a message with role user');
  });
});
