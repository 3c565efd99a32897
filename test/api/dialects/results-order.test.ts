// Results of parallel calls that come in another order than their calls, such as that in which the tools were done.
import { expect } from 'chai';
import { parseChatRequest } from '../../../lib/api/dialects/chat/request.ts';
import { parseMessageRequest } from '../../../lib/api/dialects/message/request.ts';
import { parseResponsesRequest } from '../../../lib/api/dialects/responses/request.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';

const listResults = ({ messages }: TextRequest) =>
  messages.flatMap(({ content }) => content.filter((part) => part.type === 'tool-result'));
const idsOf = (request: TextRequest) => listResults(request).map(({ id }) => id);

const PROMPT = { role: 'user', content: 'go' };
const use = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} });
const result = (id: string, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: `of ${id}`,
  ...more,
});
const readMessages = (...content: readonly object[]) =>
  parseMessageRequest({
    model: 'm',
    messages: [PROMPT, { role: 'assistant', content: [use('a'), use('b'), use('c')] }, { role: 'user', content }],
  });

describe('results of parallel calls', () => {
  it('are put in the order of their calls in every dialect', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } });
    const chat = parseChatRequest({
      model: 'm',
      messages: [
        PROMPT,
        { role: 'assistant', tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'b', content: 'of b' },
        { role: 'tool', tool_call_id: 'a', content: 'of a' },
        { role: 'assistant', tool_calls: [call('a'), call('c')] },
        { role: 'tool', tool_call_id: 'c', content: 'of c' },
        { role: 'tool', tool_call_id: 'a', content: 'of a' },
      ],
    });
    expect(idsOf(chat)).to.deep.equal(['a', 'b', 'a_2', 'c']);
    const message = readMessages(result('c'), result('a'), result('b'));
    expect(idsOf(message)).to.deep.equal(['a', 'b', 'c']);
    expect(listResults(message).map(({ content }) => content)).to.deep.equal(
      ['a', 'b', 'c'].map((id) => [{ type: 'text', text: `of ${id}` }]),
    );
    const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'x' });
    const made = (id: string) => ({ type: 'function_call', call_id: id, name: 'read', arguments: '{}' });
    const input = [PROMPT, made('a'), made('b'), output('b'), output('a')];
    expect(idsOf(parseResponsesRequest({ model: 'm', input }))).to.deep.equal(['a', 'b']);
  });

  it('leave a cache marker in its place', () => {
    const marked = { cache_control: { type: 'ephemeral' } };
    const read = readMessages(result('b'), result('c', marked), result('a'));
    expect(listResults(read).map(({ id, cache }) => [id, cache?.ttl])).to.deep.equal([
      ['a', undefined],
      ['b', '5m'],
      ['c', undefined],
    ]);
  });
});
