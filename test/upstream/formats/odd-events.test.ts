// Errors in shapes that nobody knows, behind the text of an answer that no reason ends.
import { expect } from 'chai';
import type { ProviderPart } from '../../../lib/stream/provider-part.ts';
import type { AnswerReader } from '../../../lib/upstream/contract/provider.ts';
import { ChatReply } from '../../../lib/upstream/formats/chat/reply.ts';
import { ContentsReply } from '../../../lib/upstream/formats/contents/reply.ts';
import { MessageReply } from '../../../lib/upstream/formats/message/reply.ts';
import { ResponsesReply } from '../../../lib/upstream/formats/responses/reply.ts';
import { createFinishReason } from '../../../lib/upstream/host/finish-words.ts';
import { FramedAnswer } from '../../../lib/upstream/host/framed-answer.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';

const fault = createHostFault({ secrets: [] });
const kit = { fault, finishReason: createFinishReason(fault) };

interface Format {
  readonly open: () => AnswerReader;
  readonly text: object;
  /** What ends an answer without a reason. */
  readonly marks: readonly (string | object)[];
  readonly reason: object;
}

const DONE = '[DONE]';

const FORMATS: Readonly<Record<string, Format>> = {
  chat: {
    open: () => new ChatReply(kit, {}),
    text: { choices: [{ delta: { content: 'hello' } }] },
    marks: [DONE, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }],
    reason: { choices: [{ delta: {}, finish_reason: 'stop' }] },
  },
  message: {
    open: () => new MessageReply(kit, {}),
    text: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    marks: [DONE, { type: 'message_stop' }],
    reason: { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  },
  responses: {
    open: () => new ResponsesReply(kit),
    text: { type: 'response.output_text.delta', output_index: 0, delta: 'hello' },
    marks: [DONE],
    reason: { type: 'response.completed', response: { status: 'completed' } },
  },
  contents: {
    open: () => new ContentsReply(kit),
    text: { candidates: [{ content: { parts: [{ text: 'hello' }] } }] },
    marks: [DONE],
    reason: { candidates: [{ finishReason: 'STOP' }] },
  },
};

const FAILURES: readonly object[] = [
  { error_message: 'the model crashed' },
  { errorMessage: 'the model crashed' },
  { message: 'the model crashed', code: 13 },
  { code: 'E13', msg: 'boom' },
  { detail: 'Internal Server Error' },
  { err: 'out of memory' },
  { status: 'failed' },
  { fault: { faultstring: 'policy' } },
  { __type: 'ThrottlingException', Message: 'slow down' },
  { result: { error: 'worker died' } },
  { choices: [], error_message: 'the model crashed' },
  { reason: 'timeout' },
];

/** Of another event than those of the format. */
const HARMLESS: readonly object[] = [
  { id: 'x', error: null, errors: [], service_tier: 'default' },
  { status: 'ok', took: 5 },
  {},
];

function read({ open }: Format, events: readonly (string | object)[]) {
  const answer = new FramedAnswer({ reader: open(), fault, framing: 'events', bytesMax: 10_000 });
  const parts: ProviderPart[] = [];
  for (const event of events) {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    answer.push(Buffer.from(`data: ${data}\n\n`), parts);
  }
  answer.end(parts);
  return { isWhole: answer.error === undefined && parts.some(({ type }) => type === 'finish'), error: answer.error };
}

describe('odd events of an answer', () => {
  for (const [name, format] of Object.entries(FORMATS)) {
    const { text, marks, reason } = format;

    it(`are its failure if the last of them says so and only a mark follows: ${name}`, () => {
      for (const failure of FAILURES) {
        for (const mark of marks) {
          const what = JSON.stringify([failure, mark]);
          expect(read(format, [text, failure, mark]).isWhole, what).to.equal(false);
          expect(read(format, [text, failure, mark]).error, what).to.have.property('name', 'UpstreamFault');
        }
      }
    });

    it(`are nothing if they say nothing of that kind: ${name}`, () => {
      for (const event of HARMLESS) {
        for (const mark of marks) {
          expect(read(format, [text, event, mark]).isWhole, JSON.stringify([event, mark])).to.equal(true);
        }
      }
    });

    it(`are nothing if the answer goes on, or says why it ended: ${name}`, () => {
      const odd = { error_message: 'tried again' };
      for (const mark of marks) expect(read(format, [text, odd, text, mark]).isWhole).to.equal(true);
      expect(read(format, [text, odd, reason]).isWhole).to.equal(true);
    });
  }

  it('of the responses format may have its prefix', () => {
    const failed = { type: 'response.error', code: 'server_error', message: 'the model crashed' };
    const { text } = FORMATS.responses as Format;
    expect(read(FORMATS.responses as Format, [text, failed, DONE]).error).to.include({ kind: 'server' });
  });
});
