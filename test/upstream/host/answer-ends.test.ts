// How answers end, with a framing of their plugin and without: what the reader is told, and what of errors counts.
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import type { AnswerReader, JsonObject, ProviderPart, UpstreamFault } from '../../../lib/upstream/contract/provider.ts';
import { FramedAnswer } from '../../../lib/upstream/host/framed-answer.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';
import { LenientAnswer } from '../../../lib/upstream/host/lenient-answer.ts';

const fault = createHostFault({ secrets: [] });

const DECODERS: Readonly<Record<string, (reader: AnswerReader) => LenientAnswer | FramedAnswer>> = {
  LenientAnswer: (reader) => new LenientAnswer({ reader, fault }),
  FramedAnswer: (reader) => new FramedAnswer({ reader, fault, framing: 'events', bytesMax: 1000 }),
};

for (const [name, create] of Object.entries(DECODERS)) {
  describe(`an answer that ${name} reads`, () => {
    let ends: boolean[];
    let parts: ProviderPart[];
    const readerOf = (end: NonNullable<AnswerReader['end']>): AnswerReader => ({
      take({ text, stop }, out) {
        if (typeof text === 'string') out.text(text);
        if (typeof stop === 'string') out.finish('stop', stop);
      },
      end,
    });

    function read(body: string, end: NonNullable<AnswerReader['end']> = () => {}) {
      ends = [];
      parts = [];
      const decoder = create(
        readerOf((out, marked) => {
          ends.push(marked);
          end(out, marked);
        }),
      );
      for (const event of body.split('|')) decoder.push(Buffer.from(`${event}\n\n`), parts);
      decoder.end(parts);
      return decoder;
    }
    const kindOf = ({ error }: { readonly error: unknown }) => (error as UpstreamFault | undefined)?.kind;

    it('tells its reader the end once: by its mark or by itself', () => {
      read('data: {"text":"a"}|data: [DONE]|data: {"text":"b"}');
      expect(ends).to.deep.equal([true]);
      expect(parts.map(({ type }) => type).join(' ')).to.equal('start block-start block-delta block-end finish');
      read('data: {"text":"a"}');
      expect(ends).to.deep.equal([false]);
    });

    it('has what its reader writes or throws at the end', () => {
      for (const body of ['data: {"text":"a"}', 'data: {"text":"a"}|data: [DONE]']) {
        const written = read(body, (out) => out.text('b'));
        expect(written.error).to.equal(undefined);
        expect(parts.filter(({ type }) => type === 'block-delta')).to.have.length(2);
        const thrown = new Error('a slip');
        const failed = read(body, () => {
          throw thrown;
        });
        expect([failed.done, failed.error]).to.deep.equal([true, thrown]);
      }
    });

    it('fails at an event named error, whatever it says, and says no more', () => {
      for (const said of ['{}', '{"x":1}', '5', '"no"', '[]', 'null', '{"error":{"message":"no"}}']) {
        const answer = read(`data: {"text":"a"}|event: error\ndata: ${said}|data: {"text":"b"}`);
        expect([answer.done, kindOf(answer)], said).to.deep.equal([true, 'server']);
        expect(ends).to.deep.equal([]);
        expect(parts.at(-1)).to.include({ type: 'block-delta', text: 'a' });
      }
    });

    it('is complete when it breaks off behind its reason to end, and fails when it breaks off before', () => {
      for (const [body, isLost] of [
        ['data: {"text":"a","stop":"s"}\n\n', false],
        ['data: {"text":"a"}\n\n', true],
      ] as const) {
        const decoder = create(readerOf(() => {}));
        decoder.push(Buffer.from(body), []);
        const lost = new Error('reset');
        decoder.break(lost);
        expect([decoder.done, decoder.error]).to.deep.equal(isLost ? [true, lost] : [false, undefined]);
      }
    });
  });
}

describe('an error that has a name', () => {
  const told = (isError: boolean, data: string | JsonObject, name: string) => {
    const reader: AnswerReader = { take() {} };
    const framing = (chunk: Uint8Array | undefined) => (chunk ? [{ data, name, isError }] : []);
    const answer = new FramedAnswer({ reader, fault, framing, bytesMax: 1000 });
    answer.push(Buffer.from('x'), []);
    return answer.error as UpstreamFault | undefined;
  };

  it('is judged by its name and by its data, be that an object, a text or nothing', () => {
    for (const data of ['', '"Later."', '{}', '{"message":"Later."}', '5', 'null', 'rubbish', { message: 'Later.' }]) {
      expect(told(true, data, 'throttlingException'), JSON.stringify(data)).to.include({ kind: 'rate' });
    }
    expect(told(true, '"Rate limit exceeded."', '')).to.include({ kind: 'rate' });
    expect(told(true, '"Later."', 'a')?.message).to.include('Later.');
  });
});
