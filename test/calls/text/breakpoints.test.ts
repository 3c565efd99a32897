import { expect } from 'chai';
import { addBreakpoints } from '../../../lib/calls/text/breakpoints.ts';
import type { Content, TextCall, TextMessage } from '../../../lib/upstream/contract/provider.ts';

type Prompt = Pick<TextCall, 'system' | 'messages' | 'tools'>;

const MARK = { cache: { ttl: '5m' } } as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;
const tool = (name: string) => ({ name, schema: {} });
const user = (...content: Content[]): TextMessage => ({ role: 'user', content });
const assistant = (...content: Content[]): TextMessage => ({ role: 'assistant', content });
const call = { type: 'tool-call', id: 'a', name: 'look', json: '{}' } as const;
const result = { type: 'tool-result', id: 'a', name: 'look', isError: false, content: [text('seen')] } as const;

const PROMPT: Prompt = {
  tools: { list: [tool('look'), tool('walk')], choice: 'auto' },
  system: [text('one'), text('two')],
  messages: [user(text('a')), assistant(text('b'), call), user(result, text('c'), text('d'))],
};

describe('breakpoints of the prompt cache', () => {
  it('stand after the tools, the system prompt and the last user message', () => {
    expect(addBreakpoints(PROMPT)).to.deep.equal({
      tools: { list: [tool('look'), { ...tool('walk'), ...MARK }], choice: 'auto' },
      system: [text('one'), { ...text('two'), ...MARK }],
      messages: [user(text('a')), assistant(text('b'), call), user(result, text('c'), { ...text('d'), ...MARK })],
    });
  });

  it('stand only where there is something to end', () => {
    expect(addBreakpoints({ messages: [user(text('a'))] })).to.deep.equal({
      messages: [user({ ...text('a'), ...MARK })],
    });
    const loop = { messages: [user(text('a')), assistant(call), user(result)] };
    expect(addBreakpoints(loop).messages[2]).to.deep.equal(user({ ...result, ...MARK }));
  });

  it('stand before an answer that is to be continued', () => {
    const { messages } = addBreakpoints({ messages: [user(text('a')), assistant(text('so'))] });
    expect(messages).to.deep.equal([user({ ...text('a'), ...MARK }), assistant(text('so'))]);
  });

  it('are left to a client that sets any, wherever', () => {
    const { system = [], messages, tools } = PROMPT;
    const marked: readonly Prompt[] = [
      { ...PROMPT, system: [{ ...text('one'), cache: { ttl: '1h' } }, ...system.slice(1)] },
      { ...PROMPT, tools: { list: [{ ...tool('look'), ...MARK }] } },
      { ...PROMPT, messages: [user({ ...text('a'), ...MARK }), ...messages.slice(1)] },
      { messages: [user(text('a')), assistant(call), user({ ...result, ...MARK })], ...(tools && { tools }) },
    ];
    for (const prompt of marked) expect(addBreakpoints(prompt)).to.equal(prompt);
  });
});
