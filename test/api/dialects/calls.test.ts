// Calls of a history that say that they lack something.
import { expect } from 'chai';
import { readMessages } from '../../../lib/api/dialects/messages.ts';

const prompt = { role: 'user', content: 'hi' };

/** What is read of a call in a message of the assistant. */
const read = (answer: object, result: object) =>
  readMessages([prompt, { role: 'assistant', ...answer }, result]).messages[1]?.content;

describe('a call in a history', () => {
  const empty = { type: 'tool-call', id: 'x', name: 'f', json: '{}' };

  for (const input of [undefined, null, {}, []]) {
    it(`of the messages dialect has no arguments where its input is ${JSON.stringify(input)}`, () => {
      const use = { type: 'tool_use', id: 'x', name: 'f', input };
      const results = [{ type: 'tool_result', tool_use_id: 'x', content: 'r' }];
      expect(read({ content: [use] }, { role: 'user', content: results })).to.deep.equal([empty]);
    });
  }

  for (const json of [undefined, null, '', '{}']) {
    it(`of a chat has no arguments where they are ${JSON.stringify(json)}, whatever its type lacks`, () => {
      for (const type of [undefined, null, 'function']) {
        const call = { id: 'x', type, function: { name: 'f', arguments: json } };
        const result = { role: 'tool', tool_call_id: 'x', content: 'r' };
        expect(read({ content: null, tool_calls: [call] }, result)).to.deep.equal([empty]);
      }
    });
  }
});
