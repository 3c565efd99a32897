// Outputs of tools where clients of the responses format put them: late, behind other items, or of no call.
import { expect } from 'chai';
import { type Json, parse } from './stage.ts';

const user = (content: unknown) => ({ role: 'user', content });
const said = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: id });

/** Roles, texts, and the ids of calls and results. */
const read = (...input: object[]): Json =>
  parse({ input: [user('hi'), ...input] })
    .messages.slice(1)
    .map(({ role, content }) => [role, ...content.map((part: Json) => part.text ?? `${part.type} ${part.id}`)]);

describe('outputs of tools', () => {
  const both = ['assistant', 'tool-call a', 'tool-call b'];
  const outputs = ['user', 'tool-result a', 'tool-result b'];

  it('stand right behind their calls, and what came while the tools ran after them', () => {
    const wait = ['user', 'wait'];
    expect(read(call('a'), call('b'), output('a'), user('wait'), output('b'))).to.deep.equal([both, outputs, wait]);
    const note = { role: 'developer', content: 'note' };
    expect(read(call('a'), call('b'), note, output('a'), output('b'), user('wait'))).to.deep.equal([
      ...[both, outputs],
      ...[['system', 'note'], wait],
    ]);
  });

  it('may come after later answers, and are what the model is to answer', () => {
    const calls = [call('a'), call('b'), output('a')];
    expect(read(...calls, said('So.'), output('b'))).to.deep.equal([[...both, 'So.'], outputs]);
    expect(read(...calls, call('c'), output('c'), output('b'))).to.deep.equal([
      [...both, 'tool-call c'],
      ['user', 'tool-result a', 'tool-result b', 'tool-result c'],
    ]);
  });

  it('of no call are messages of the user', () => {
    const task = { type: 'function_call_output', name: 'create_thread', namespace: 'codex_app', output: 'Mend it.' };
    const { messages } = parse({ input: [task] });
    expect(messages).to.deep.equal([{ role: 'user', content: [{ type: 'text', text: 'Mend it.' }] }]);
    expect(read({ ...task, call_id: '', output: [{ type: 'input_text', text: 'A' }] })).to.deep.equal([['user', 'A']]);
    expect(read(call('a'), { ...task, name: 'look' })[1]).to.deep.equal(['user', 'tool-result a']);
  });

  it('may have what agents write to each other, which no vendor encrypts', () => {
    const content = [{ type: 'encrypted_content', encrypted_content: 'Mended.' }];
    const { messages } = parse({ input: [user('hi'), call('a'), { ...output('a'), output: content }] });
    expect(messages[2]?.content[0]).to.deep.include({ content: [{ type: 'text', text: 'Mended.' }] });
  });
});

describe('the input of a response', () => {
  it('ends with a user who says something', () => {
    const hint = 'the last user message must contain text or an image';
    expect(() => parse({ input: [user('hi'), user([])] })).to.throw(`Invalid \`input[1].content\`: ${hint}`);
    expect(() => parse({ input: [user('hi'), { type: 'message', ...user([]) }] })).to.throw(hint);
  });
});
