// Where the results of tools stand among the messages of a request.
import { expect } from 'chai';
import { readMessages } from '../../../lib/api/dialects/messages.ts';

const prompt = { role: 'user', content: 'hi' };

describe('results of tools', () => {
  const text = (words: string) => ({ type: 'text', text: words });
  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id });
  const seen = (...wire: readonly object[]) =>
    readMessages(wire).messages.map(({ role, content }) => [
      role,
      ...content.map((part) => (part.type === 'text' ? part.text : part.type === 'tool-result' ? part.id : part.type)),
    ]);
  const calls = { role: 'assistant', content: [use('x'), use('y')] };
  const user = (...content: readonly object[]) => ({ role: 'user', content });

  it('come in one message behind their calls, and what is said with them after them', () => {
    const begun = [
      ['user', 'hi'],
      ['assistant', 'tool-call', 'tool-call'],
    ];
    expect(seen(prompt, calls, user(result('x'), text('a')), user(result('y'), text('b')))).to.deep.equal([
      ...begun,
      ['user', 'x', 'y', 'a', 'b'],
    ]);
    expect(seen(prompt, calls, user(result('x')), user(text('a')), user(result('y'), text('b')))).to.deep.equal([
      ...begun,
      ['user', 'x', 'y'],
      ['user', 'a'],
      ['user', 'b'],
    ]);
    expect(seen(prompt, calls, user(result('y')), user(text('a')), user(result('x')), user(text('b')))).to.deep.equal([
      ...begun,
      ['user', 'x', 'y'],
      ['user', 'a'],
      ['user', 'b'],
    ]);
  });

  it('come in the order of their calls', () => {
    const three = { role: 'assistant', content: [use('x'), use('y'), use('z')] };
    const [last] = seen(prompt, three, user(result('z'), result('x'), text('a'), result('y'))).slice(-1);
    expect(last).to.deep.equal(['user', 'x', 'y', 'z', 'a']);
    const alone = (id: string) => ({ role: 'assistant', content: [use(id)] });
    const [both] = seen(prompt, alone('x'), alone('y'), user(result('y'), result('x'))).slice(-1);
    expect(both).to.deep.equal(['user', 'y', 'x']);
  });
});
