// Answers whose framing the plugin names: what its reader gets, and how they fail.
import { expect } from 'chai';
import type { ProviderPart } from '../../../lib/stream/provider-part.ts';
import { encodeAwsEvents } from '../../../lib/upstream/check/aws-events.ts';
import type { AnswerReader, Framing, UpstreamFault } from '../../../lib/upstream/contract/provider.ts';
import { FramedAnswer, type FramedOptions } from '../../../lib/upstream/host/framed-answer.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';

const fault = createHostFault({ secrets: [] });

interface Read {
  readonly text: string;
  readonly names: readonly string[];
  readonly finish: string | undefined;
  readonly error: UpstreamFault | undefined;
}

function read(framing: FramedOptions['framing'], ...chunks: readonly (string | Buffer)[]): Read {
  const names: string[] = [];
  const reader: AnswerReader = {
    take({ text, done, stop }, out, eventName) {
      names.push(eventName());
      if (typeof text === 'string') out.text(text);
      if (typeof done === 'string') out.finish('stop', done);
      if (typeof stop === 'string') out.done(stop);
    },
  };
  const answer = new FramedAnswer({ reader, fault, framing, bytesMax: 1000 });
  const parts: ProviderPart[] = [];
  for (const chunk of chunks) answer.push(Buffer.from(chunk), parts);
  answer.end(parts);
  const text = parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
  const finish = parts.find((part) => part.type === 'finish');
  return { text, names, finish: finish?.raw, error: answer.error as UpstreamFault | undefined };
}

describe('answers with a framing', () => {
  it('are read value by value, lists item by item', () => {
    expect(read('lines', '{"text":"a"}\n[{"text":"b"},5,{"text":"c"}]\n{"done":"end"}')).to.deep.equal({
      text: 'abc',
      names: ['', '', '', ''],
      finish: 'end',
      error: undefined,
    });
  });

  it('end with a mark, behind which nothing counts', () => {
    const { text, finish, error } = read(
      'events',
      'data: {"text":"a"}\n\ndata: [DONE]\n\ndata: {"text":"b"}\n\nrubbish',
    );
    expect([text, finish, error]).to.deep.equal(['a', '[DONE]', undefined]);
    expect(read('lines', '{"text":"a"}\n{"stop":"bye"}\n{"text":"b"}\n')).to.include({ text: 'a', finish: 'bye' });
  });

  it('may have events without a value', () => {
    const framing: Framing = (chunk) =>
      chunk
        ? [
            { data: '', name: 'initial-response' },
            { data: '{"text":"a"}', name: 'a' },
          ]
        : [];
    expect(read(framing, 'x')).to.include({ text: 'a', error: undefined });
  });

  it('fail at an error that is named as one, after what came before it', () => {
    const exception = { exception: 'throttlingException', data: { message: 'Later.' } };
    const { text, error } = read('aws-event-stream', encodeAwsEvents([{ event: 'a', data: { text: 'a' } }, exception]));
    expect([text, error?.kind]).to.deep.equal(['a', 'rate']);
    expect(read('events', 'event: error\ndata: {"message":"no"}\n\n').error?.kind).to.equal('server');
  });

  it('fail at rubbish, but not at a last value that is cut', () => {
    expect(read('lines', '{"text":"a"}\nrubbish\n{"text":"b"}\n')).to.deep.include({ text: 'a' });
    expect(read('lines', 'rubbish\n').error?.kind).to.equal('protocol');
    expect(read('aws-event-stream', 'HTTP/1.1 200 OK\r\n').error?.kind).to.equal('protocol');
    expect(read('lines', '{"text":"a"}\n{"tex')).to.include({ text: 'a', error: undefined, finish: undefined });
  });

  it('have what came before a damaged message in the same read', () => {
    const whole = encodeAwsEvents([{ event: 'a', data: { text: 'a' } }]);
    const damaged = Buffer.from(whole).fill(0, whole.length - 4);
    const { text, error } = read('aws-event-stream', Buffer.concat([whole, damaged]));
    expect([text, error?.kind]).to.deep.equal(['a', 'protocol']);
  });

  it('are read no further behind bytes in another framing, even if they have their finish', () => {
    const reader: AnswerReader = { take: ({ done }, out) => out.finish('stop', String(done)) };
    for (const [framing, end] of [
      ['aws-event-stream', encodeAwsEvents([{ event: 'a', data: { done: 'end' } }])],
      ['lines', '{"done":"end"}\n'],
    ] as const) {
      const answer = new FramedAnswer({ reader, fault, framing, bytesMax: 1000 });
      answer.push(Buffer.from(end), []);
      expect([answer.done, answer.error]).to.deep.equal([false, undefined]);
      answer.push(Buffer.alloc(2000, 'x'), []);
      expect([answer.done, answer.error]).to.deep.equal([true, undefined]);
    }
  });

  it('are unharmed by what goes wrong behind their finish', () => {
    expect(read('lines', '{"text":"a"}\n{"done":"end"}\nrubbish\n')).to.include({ finish: 'end', error: undefined });
  });

  it('go on behind an exception that comes after their finish', () => {
    const exception = { exception: 'internalServerException', data: { message: 'Late.' } };
    const text = { event: 'a', data: { text: 'a' } };
    const end = { event: 'b', data: { done: 'end' } };
    const late = encodeAwsEvents([{ event: 'c', data: {} }]);
    expect(read('aws-event-stream', encodeAwsEvents([text, end, exception]), late)).to.deep.equal({
      text: 'a',
      names: ['a', 'b', 'c'],
      finish: 'end',
      error: undefined,
    });
  });

  it('come in any framing for which there is a function', () => {
    let rest = '';
    const framing: Framing = (chunk) => {
      rest += chunk ? Buffer.from(chunk).toString() : '';
      const pieces = rest.split('|');
      rest = chunk ? (pieces.pop() ?? '') : '';
      return pieces.filter(Boolean).map((data) => ({ data: { text: data }, name: 'piece' }));
    };
    expect(read(framing, 'a|b', 'c|d')).to.deep.include({ text: 'abcd', names: ['piece', 'piece', 'piece'] });
    const broken: Framing = () => {
      throw new Error('lost');
    };
    expect(read(broken, 'a').error).to.deep.include({ kind: 'protocol' });
  });

  it('fail with what a reader throws, which says nothing of the framing', () => {
    const thrown = new Error('a slip of the plugin');
    const reader: AnswerReader = {
      take() {
        throw thrown;
      },
    };
    const answer = new FramedAnswer({ reader, fault, framing: 'lines', bytesMax: 1000 });
    answer.push(Buffer.from('{"text":"a"}\n'), []);
    expect(answer.error).to.equal(thrown);
  });
});
