// Chunks that say an answer, or what there is of it, in more than one place.
import { expect } from 'chai';
import { joined, open } from './stage.ts';

describe('answers in the chat format that are said twice', () => {
  it('have the text of a choice once where its delta says it too', () => {
    const chunk = (content: unknown, text: unknown, reason?: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, text, delta: { content }, finish_reason: reason ?? null }] })}`;
    const parts = open().push([chunk('Hel', 'Hel'), chunk('lo', 'lo'), chunk('', '', 'stop'), 'data: [DONE]']);
    expect(joined(parts)).to.equal('Hello');
    expect(joined(open().push([chunk('', 'Hel'), chunk(null, 'lo'), chunk([{ text: '!' }], '!')]))).to.equal('Hello!');
  });
});
