// The answers that are derived from recorded ones, event by event.
import { expect } from 'chai';
import {
  countZeroLater,
  detectFormat,
  dropDeltas,
  interleaveCalls,
  repeatArguments,
} from '../../../lib/upstream/check/wire.ts';

const write = (events: readonly object[]) =>
  Buffer.from(events.map((event) => `event: e\ndata: ${JSON.stringify(event)}\n\n`).join(''));
const read = (body: Buffer | undefined) =>
  body
    ?.toString()
    .split('\n\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(/^event: e\ndata: (.*)$/.exec(text)?.[1] ?? 'null'));

const CHAT = {
  words: { choices: [{ delta: { content: 'Hi' } }] },
  call: {
    choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '{"at":' } }] } }],
  },
  rest: { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '1}' } }] } }] },
  usage: { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } },
};
const MESSAGES = {
  start: { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } },
  text: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  call: { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'a', name: 'look' } },
  rest: { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{}' } },
  end: { type: 'message_delta', usage: { output_tokens: 4 } },
};
const RESPONSES = {
  created: { type: 'response.created', response: {} },
  call: {
    type: 'response.output_item.added',
    output_index: 1,
    item: { type: 'function_call', id: 'i', call_id: 'a', name: 'look' },
  },
  rest: { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'i', delta: '{}' },
  whole: { type: 'response.function_call_arguments.done', output_index: 1, item_id: 'i', arguments: '{}' },
  done: {
    type: 'response.output_item.done',
    output_index: 1,
    item: { type: 'function_call', id: 'i', call_id: 'a', name: 'look', arguments: '{}' },
  },
};

describe('answers derived from recorded ones', () => {
  it('are in the format that an event shows', () => {
    expect(detectFormat(write([{}, CHAT.words]))).to.equal('chat');
    expect(detectFormat(write([{ type: 'ping' }, MESSAGES.text]))).to.equal('messages');
    expect(detectFormat(write([MESSAGES.start]))).to.equal('messages');
    expect(detectFormat(write([RESPONSES.created]))).to.equal('responses');
    for (const body of ['', 'data: [DONE]\n\n', 'data: {"type":"other"}\n\n', 'data: null\n\n', '{"choices":[]}'])
      expect(detectFormat(Buffer.from(body)), body).to.equal(undefined);
  });

  it('have each call of a chat twice, piece by piece, under another index and id', () => {
    const again = (id: object, json: object) => ({
      choices: [{ delta: { tool_calls: [{ index: 100, ...id, function: json }] } }],
    });
    expect(read(interleaveCalls.chat(write([CHAT.words, CHAT.call, CHAT.rest])))).to.deep.equal([
      CHAT.words,
      CHAT.call,
      again({ id: 'a_again' }, { name: 'look', arguments: '{"at":' }),
      CHAT.rest,
      again({}, { arguments: '1}' }),
    ]);
    const unnumbered = { choices: [{ delta: { tool_calls: [{ id: 'a' }] } }] };
    expect(interleaveCalls.chat(write([CHAT.words, unnumbered]))).to.equal(undefined);
  });

  it('have each call of a message twice', () => {
    const { text, call, rest } = MESSAGES;
    expect(read(interleaveCalls.messages(write([text, call, rest])))).to.deep.equal([
      text,
      call,
      { ...call, index: 101, content_block: { ...call.content_block, id: 'a_again' } },
      rest,
      { ...rest, index: 101 },
    ]);
    expect(interleaveCalls.messages(write([text]))).to.equal(undefined);
  });

  it('have each call of a response twice', () => {
    const { created, call, rest } = RESPONSES;
    expect(read(interleaveCalls.responses(write([created, call, rest])))).to.deep.equal([
      created,
      call,
      { ...call, output_index: 101, item: { ...call.item, id: 'i_again', call_id: 'a_again' } },
      rest,
      { ...rest, output_index: 101, item_id: 'i_again' },
    ]);
    expect(interleaveCalls.responses(write([created]))).to.equal(undefined);
  });

  it('have all arguments once more behind their last piece', () => {
    const repeated = { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"at":1}' } }] } }] };
    expect(read(repeatArguments('chat', '{"at":1}')(write([CHAT.call, CHAT.rest, CHAT.usage])))).to.deep.equal([
      CHAT.call,
      CHAT.rest,
      repeated,
      CHAT.usage,
    ]);
    const { call, rest, end } = MESSAGES;
    expect(read(repeatArguments('messages', '{"at":1}')(write([call, rest, end])))).to.deep.equal([
      call,
      rest,
      { ...rest, delta: { type: 'input_json_delta', partial_json: '{"at":1}' } },
      end,
    ]);
    const { whole, done } = RESPONSES;
    expect(read(repeatArguments('responses', '{}')(write([whole, done])))).to.deep.equal([whole, whole, done]);
    expect(repeatArguments('chat', '{}')(write([CHAT.words]))).to.equal(undefined);
  });

  it('say at first that most of the prompt was cached, and take it back', () => {
    const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };
    expect(read(countZeroLater.chat?.(write([CHAT.words, CHAT.usage])))).to.deep.equal([
      { choices: [], usage: { ...usage, prompt_tokens_details: { cached_tokens: 8 } } },
      CHAT.words,
      { choices: [], usage: { ...CHAT.usage.usage, prompt_tokens_details: { cached_tokens: 0 } } },
    ]);
    expect(read(countZeroLater.messages?.(write([MESSAGES.start, MESSAGES.text, MESSAGES.end])))).to.deep.equal([
      {
        type: 'message_start',
        message: { usage: { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 8 } },
      },
      MESSAGES.text,
      { type: 'message_delta', usage: { input_tokens: 9, cache_read_input_tokens: 0, output_tokens: 4 } },
    ]);
    const one = { ...CHAT.usage, usage: { ...CHAT.usage.usage, prompt_tokens: 1 } };
    expect(countZeroLater.chat?.(write([CHAT.words, one]))).to.equal(undefined);
    for (const events of [[MESSAGES.start], [MESSAGES.end], [{ ...MESSAGES.start, message: {} }, MESSAGES.end]])
      expect(countZeroLater.messages?.(write(events))).to.equal(undefined);
  });

  it('have only what is done, without its pieces', () => {
    const { created, call, rest, whole, done } = RESPONSES;
    const all = [created, call, rest, whole, done];
    expect(read(dropDeltas.responses?.(write(all)))).to.deep.equal([created, call, whole, done]);
    expect(dropDeltas.responses?.(write([created, call, rest]))).to.equal(undefined);
    expect(dropDeltas.responses?.(write([created, call, done]))).to.equal(undefined);
  });
});
