// Who speaks in a chat of several: the names of messages.
import { expect } from 'chai';
import { parseChatRequest } from '../../../../lib/api/dialects/chat/request.ts';
import { parseMessageRequest } from '../../../../lib/api/dialects/message/request.ts';
import { PNG } from '../../../media/sample-images.ts';

interface Said {
  readonly type: string;
  readonly text?: string;
}

const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } };

const read = (parse: typeof parseChatRequest, messages: readonly object[]) =>
  parse({ model: 'm', messages, max_tokens: 9 }).messages.map(({ content }) =>
    content.map((part) => (part as Said).text ?? part.type),
  );
const told = (...messages: object[]) => read(parseChatRequest, messages);

const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };

describe('names of chat messages', () => {
  it('stand before what users say, if there are several', () => {
    expect(
      told(
        { role: 'system', name: 'host', content: 'Be brief.' },
        { role: 'user', name: 'ann', content: 'Hi' },
        { role: 'assistant', name: 'bot', content: 'Hello.' },
        {
          role: 'user',
          name: ' Bob B. ',
          content: [IMAGE, { type: 'text', text: 'And I?' }, { type: 'text', text: '?' }],
        },
        { role: 'user', name: 'ann', content: [IMAGE] },
      ),
    ).to.deep.equal([['ann: Hi'], ['Hello.'], ['image', 'Bob B.: And I?', '?'], ['ann:', 'image']]);
  });

  it('stand before what assistants say, if there are several', () => {
    expect(
      told(
        { role: 'user', content: 'Write.' },
        { role: 'assistant', name: 'writer', content: 'A poem.', tool_calls: [call] },
        { role: 'tool', name: 'look', tool_call_id: 'a', content: 'A' },
        { role: 'assistant', name: 'critic', content: 'Good.' },
        { role: 'assistant', content: 'Fine.' },
        { role: 'user', content: 'Go on.' },
      ),
    ).to.deep.equal([
      ['Write.'],
      ['writer: A poem.', 'tool-call'],
      ['tool-result'],
      ['critic: Good.'],
      ['Fine.'],
      ['Go on.'],
    ]);
  });

  it('say nothing about a call without words', () => {
    const messages = told(
      { role: 'user', content: 'Write.' },
      { role: 'assistant', name: 'writer', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'assistant', name: 'critic', content: 'Good.' },
    );
    expect(messages).to.deep.equal([['Write.'], ['tool-call'], ['tool-result'], ['critic: Good.']]);
  });

  it('are none where they are no text, where there is one, and in the messages format', () => {
    for (const name of [null, 5, '', '  ', {}, 'ann']) {
      const messages = [
        { role: 'user', name: 'ann', content: 'Hi' },
        { role: 'user', name, content: 'Ho' },
      ];
      expect(told(...messages), `${name}`).to.deep.equal([['Hi'], ['Ho']]);
    }
    const two = [
      { role: 'user', name: 'ann', content: 'Hi' },
      { role: 'user', name: 'bob', content: 'Ho' },
    ];
    expect(read(parseMessageRequest as typeof parseChatRequest, two)).to.deep.equal([['Hi'], ['Ho']]);
    expect(told(...two)).to.deep.equal([['ann: Hi'], ['bob: Ho']]);
  });
});
