// Chunks that say an answer, or what there is of it, in more than one place.
import { expect } from 'chai';
import { joined, open, types } from './stage.ts';

describe('answers in the chat format that are said twice', () => {
  it('have the text of a choice once where its delta says it too', () => {
    const chunk = (content: unknown, text: unknown, reason?: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, text, delta: { content }, finish_reason: reason ?? null }] })}`;
    const parts = open().push([chunk('Hel', 'Hel'), chunk('lo', 'lo'), chunk('', '', 'stop'), 'data: [DONE]']);
    expect(joined(parts)).to.equal('Hello');
    expect(joined(open().push([chunk('', 'Hel'), chunk(null, 'lo'), chunk([{ text: '!' }], '!')]))).to.equal('Hello!');
  });

  it('have their counts where the last chunk has another id, and lists without a call or a text', () => {
    const chunk = (id: string, fields: object) => `data: ${JSON.stringify({ id, ...fields })}`;
    const last = { choices: [{ index: 0, delta: { content: '', tool_calls: [] } }], usage: { completion_tokens: 7 } };
    const parts = open().push([
      chunk('a', { choices: [{ index: 0, delta: { content: 'Hi' } }] }),
      chunk('a', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      chunk('b', last),
    ]);
    expect(parts.filter(({ type }) => type === 'usage')).to.deep.equal([{ type: 'usage', output: 7 }]);
  });

  it('do not end with a chunk that repeats the message so far, though it is called a whole answer', () => {
    const chunk = (content: string, soFar: string, reason?: string) => {
      const [delta, message] = [{ content }, { role: 'assistant', content: soFar }];
      const choices = [{ index: 0, delta, message, finish_reason: reason ?? null }];
      return `data: ${JSON.stringify({ object: 'chat.completion', choices })}`;
    };
    const whole = open();
    const parts = [
      ...whole.push([chunk('Hel', 'Hel'), chunk('lo', 'Hello'), chunk('', 'Hello', 'stop')]),
      ...whole.end(),
    ];
    expect(joined(parts)).to.equal('Hello');
    expect(parts.at(-1)).to.include({ type: 'finish', reason: 'stop' });
    for (const lines of [[chunk('Hel', 'Hel')], [chunk('Hel', 'Hel'), chunk('lo', 'Hello')]]) {
      const cut = open();
      expect(types([...cut.push(lines), ...cut.end()])).not.to.include('finish');
    }
  });
});
