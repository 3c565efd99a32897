// What the answer of a hostile upstream costs to read: as much more as it is longer, whatever it is made of.
import type { AnswerReader, JsonObject } from '../../../lib/upstream/contract/provider.ts';
import { ChatReply } from '../../../lib/upstream/formats/chat/reply.ts';
import { ContentsReply } from '../../../lib/upstream/formats/contents/reply.ts';
import { MessageReply } from '../../../lib/upstream/formats/message/reply.ts';
import { ResponsesReply } from '../../../lib/upstream/formats/responses/reply.ts';
import { createFinishReason } from '../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';
import { Writer } from '../../../lib/upstream/host/writer.ts';
import { expectLinear } from '../../../testkit/growth.ts';

const fault = createHostFault({ secrets: [] });
const kit = { fault, finishReason: createFinishReason(fault) };

const chat = () => new ChatReply(kit, {});
const messages = () => new MessageReply(kit, {});
const contents = () => new ContentsReply(kit);
const responses = () => new ResponsesReply(kit);

const event = (type: string, more: object = {}) => ({ type: `response.${type}`, ...more });
const completed = (output: readonly object[]) =>
  event('completed', { response: { id: 'r', status: 'completed', output } });
const message = (id: string) => ({ type: 'message', id, content: [{ type: 'output_text', text: 'a' }] });
const call = (at: number) => ({ type: 'function_call', call_id: `c${at}`, name: `n${at}`, arguments: '{}' });
const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 };
const inItem = { item_id: 'i', output_index: 0 };

function repeat(times: number, ...makers: readonly ((at: number) => object)[]): readonly object[] {
  return makers.flatMap((make) => Array.from({ length: times }, (_, at) => make(at)));
}

const ANSWERS: readonly (readonly [
  what: string,
  open: () => AnswerReader,
  make: (times: number) => readonly object[],
])[] = [
  [
    'items in another order at the end',
    responses,
    (times) => [
      ...repeat(times, (at) => event('output_item.done', { item: message(`m${at}`), output_index: at })),
      completed(repeat(times, (at) => message(`m${times - at}`))),
    ],
  ],
  [
    'calls in another order at the end',
    responses,
    (times) => [
      ...repeat(times, (at) => event('output_item.done', { item: call(at), output_index: at })),
      completed(repeat(times, (at) => ({ ...call(times - at), call_id: `d${at}` }))),
    ],
  ],
  [
    'parts that are begun and never numbered again',
    responses,
    (times) =>
      repeat(
        times,
        (at) => event('content_part.added', { ...inItem, content_index: at }),
        (at) => event('output_text.delta', { ...inItem, content_index: -1 - at, delta: 'a' }),
        (at) => event('output_text.done', { ...inItem, content_index: -1 - at, text: 'b' }),
      ),
  ],
  [
    'parts of reasoning, the last one first',
    responses,
    (times) =>
      repeat(
        times,
        (at) => event('reasoning_summary_part.added', { ...inItem, summary_index: at }),
        (at) => event('reasoning_summary_text.done', { ...inItem, summary_index: times - 1 - at, text: `${at + 1e9}` }),
      ),
  ],
  [
    'citations of items',
    responses,
    (times) =>
      repeat(
        times,
        (at) => event('output_item.done', { item: message(`m${at}`), output_index: at }),
        (at) => event('output_text.annotation.added', { output_index: at, content_index: 0, annotation }),
      ),
  ],
  [
    'citations of parts',
    responses,
    (times) =>
      repeat(
        times,
        (at) => event('output_text.delta', { ...inItem, content_index: at, delta: 'a' }),
        (at) => event('output_text.annotation.added', { ...inItem, content_index: at, annotation }),
      ),
  ],
  [
    'details of reasoning',
    chat,
    (times) =>
      repeat(times, (index) => {
        return { choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', index, text: 'a' }] } }] };
      }),
  ],
  [
    'blocks that are open at the same time',
    messages,
    (times) =>
      repeat(
        times,
        (index) => ({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `t${index}` } }),
        (at) => ({ type: 'content_block_stop', index: times - 1 - at }),
      ),
  ],
  [
    'counts of other names',
    contents,
    (times) => repeat(times, (at) => ({ usageMetadata: { promptTokenCount: 1, [`count${at}`]: 1 } })),
  ],
];

describe('the cost of an answer', () => {
  for (const [what, open, make] of ANSWERS) {
    it(`grows with its length: ${what}`, () => {
      expectLinear((times) => {
        const events = make(times) as readonly JsonObject[];
        const reader = open();
        const out = new Writer();
        out.into([]);
        return () => events.forEach((each) => void reader.take(each, out, () => ''));
      });
    });
  }
});
