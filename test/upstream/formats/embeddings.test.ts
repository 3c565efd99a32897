// Replies with embeddings in both formats: vectors in the order of the inputs, counts, and what an error in them says.
import { expect } from 'chai';
import { createContentsEmbeddings } from '../../../lib/upstream/formats/contents/embeddings.ts';
import { createEmbeddingsFormat } from '../../../lib/upstream/formats/embeddings/format.ts';
import { isUpstreamFault } from '../../../lib/upstream/host/fault.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';

const fault = createHostFault({ secrets: [] });
const chat = createEmbeddingsFormat({ fault });
const contents = createContentsEmbeddings({ fault });

/** The kind of the fault, and what it says. */
function refusal(read: () => unknown): readonly [string, string] {
  try {
    read();
  } catch (error) {
    if (isUpstreamFault(error)) return [error.kind, error.detail];
    throw error;
  }
  throw new Error('it was read');
}

for (const [name, format] of [
  ['embeddings', chat],
  ['contents', contents],
] as const) {
  describe(`embeddings in the ${name} format`, () => {
    it('fail by what the upstream says, also where no member is named error', () => {
      for (const [reply, expected] of [
        [{ error: { code: 429, message: 'slow down' } }, ['rate', '429: slow down']],
        [{ error: 'on fire' }, ['server', 'on fire']],
        [{ code: 401, message: 'who are you' }, ['auth', '401: who are you']],
        [{ data: 'none', embeddings: 'none' }, ['protocol', 'a reply without a list of embeddings']],
        [null, ['protocol', 'a reply without a list of embeddings']],
      ] as const) {
        expect(
          refusal(() => format.read(reply)),
          JSON.stringify(reply),
        ).to.deep.equal(expected);
      }
    });
  });
}

describe('embeddings in the embeddings format', () => {
  const entry = (index: number | undefined, prompt?: number) => ({
    embedding: [index ?? 0.5],
    ...(index !== undefined && { index }),
    ...(prompt !== undefined && { usage: { prompt_tokens: prompt } }),
  });

  it('are in the order of their indexes, or as they came if those are none', () => {
    expect(chat.read({ data: [entry(1), entry(0)] }).vectors).to.deep.equal([[0], [1]]);
    expect(chat.read({ data: [entry(2), entry(1), entry(3)] }).vectors).to.deep.equal([[1], [2], [3]]);
    const inText = [...Array(11).keys()].reverse().map((at) => ({ embedding: [at], index: String(at) }));
    expect(chat.read({ data: inText }).vectors).to.deep.equal([...Array(11).keys()].map((at) => [at]));
    expect(chat.read({ data: [{ embedding: [9], index: 'b' }, entry(0)] }).vectors).to.deep.equal([[9], [0]]);
    expect(chat.read({ data: [entry(undefined), entry(1)] }).vectors).to.deep.equal([[0.5], [1]]);
    expect(chat.read({ data: [{ ...entry(0), embedding: [9] }, entry(0)] }).vectors).to.deep.equal([[9], [0]]);
  });

  it('count what the reply says, or else each entry, if all of them do', () => {
    const count = (reply: object) => chat.read(reply).inputTokens;
    expect(count({ data: [entry(0, 3), entry(1, 4)], usage: { prompt_tokens: 9, total_tokens: 10 } })).to.equal(9);
    expect(count({ data: [entry(0, 3), entry(1, 4)], usage: { total_tokens: 10 } })).to.equal(10);
    expect(count({ data: [entry(0, 3), entry(1, 4)] })).to.equal(7);
    expect(count({ data: [entry(0, 3), entry(1)] })).to.equal(undefined);
    expect(count({ data: [] })).to.equal(undefined);
  });
});

describe('embeddings in the contents format', () => {
  it('count what the reply says, and no other number', () => {
    const count = (usageMetadata?: object) =>
      contents.read({ embeddings: [{ values: [1] }], usageMetadata }).inputTokens;
    expect(count({ promptTokenCount: 4 })).to.equal(4);
    expect(count({ promptTokenCount: 0 })).to.equal(0);
    expect([count({}), count(), count({ promptTokenCount: -4 })]).to.deep.equal([undefined, undefined, undefined]);
  });

  it('fail where an entry has no vector', () => {
    for (const entry of [{}, { values: 7 }, { values: 'AAA' }]) {
      expect(refusal(() => contents.read({ embeddings: [{ values: [1] }, entry] }))).to.deep.equal([
        ...['protocol', 'an embedding is not a vector'],
      ]);
    }
  });

  it('are asked for by the full name of the model', () => {
    const body = contents.body({ model: 'tuned/mine', inputs: ['a'], options: {} });
    expect(body).to.deep.equal({ requests: [{ model: 'tuned/mine', content: { parts: [{ text: 'a' }] } }] });
  });
});
