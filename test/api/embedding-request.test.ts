// The fields of a request for embeddings, what a model does not take, and requests that cross threads.
import { expect } from 'chai';
import { createBodyParser } from '../../lib/api/body-parser.ts';
import { parseEmbedding, refuseUnsuitable } from '../../lib/api/embedding-request.ts';
import { isFault } from '../../lib/base/faults.ts';
import { estimateInputs } from '../../lib/calls/embeddings/estimate.ts';
import type { EmbeddingModel } from '../../lib/catalog/model.ts';

const ask = (more: object) => ({ model: 'm', input: 'hi', ...more });

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isFault(error) && error.output.statusCode === 400) return error.message;
    throw error;
  }
  return expect.fail('it was accepted');
}

describe('a request for embeddings', () => {
  it('is read with its defaults', () => {
    expect(parseEmbedding(ask({ dimensions: null, encoding_format: null, user: 5, input_type: 'x' }))).to.deep.equal({
      model: 'm',
      inputs: ['hi'],
      dimensions: undefined,
      encoding: 'float',
    });
  });

  for (const [input, read] of [
    [['a', ' '], { inputs: ['a', ' '] }],
    [[0, 5], { inputs: [], tokens: [[0, 5]] }],
    [[[1], [2, 3]], { inputs: [], tokens: [[1], [2, 3]] }],
    [Array(5000).fill(1), { inputs: [], tokens: [Array(5000).fill(1)] }],
  ] as const) {
    it(`reads ${JSON.stringify(input).slice(0, 40)}`, () => {
      expect(parseEmbedding(ask({ input }))).to.deep.include(read);
    });
  }

  for (const [fields, message] of [
    [{ model: undefined }, /^Invalid `model`: is required/],
    [{ model: 5 }, /^Invalid `model`/],
    [{ input: undefined }, /^Invalid `input`: is required/],
    [{ input: null }, /^Invalid `input`: must be a string, an array of strings/],
    [{ input: 5 }, /^Invalid `input`/],
    [{ input: {} }, /^Invalid `input`/],
    [{ input: '' }, /^Invalid `input`: must not be empty/],
    [{ input: [] }, /^Invalid `input`: must not be empty/],
    [{ input: ['a', ''] }, /^Invalid `input\[1\]`: must not be empty/],
    [{ input: ['a', 5] }, /^Invalid `input\[1\]`: must be a string like/],
    [{ input: [null] }, /^Invalid `input\[0\]`/],
    [{ input: [[]] }, /^Invalid `input\[0\]`: must not be empty/],
    [{ input: [[1], 'a'] }, /^Invalid `input\[1\]`: must be an array of token ids/],
    [{ input: [1, 'a'] }, /^Invalid `input\[1\]`: must be a token id/],
    [{ input: [1, 2.5] }, /^Invalid `input\[1\]`/],
    [{ input: [[1, -1]] }, /^Invalid `input\[0\]\[1\]`/],
    [{ input: [2 ** 31] }, /^Invalid `input\[0\]`/],
    [{ input: Array(2049).fill('x') }, /has 2049 texts, at most 2048/],
    [{ dimensions: 0 }, /^Invalid `dimensions`: must be a whole number from 1 to 65536/],
    [{ dimensions: 1.5 }, /^Invalid `dimensions`/],
    [{ dimensions: '256' }, /^Invalid `dimensions`/],
    [{ dimensions: 1e15 }, /^Invalid `dimensions`/],
    [{ encoding_format: 'int8' }, /^Invalid `encoding_format`: must be float or base64/],
  ] as const) {
    it(`refuses ${JSON.stringify(fields).slice(0, 40)}`, () => {
      expect(messageOf(() => parseEmbedding(ask(fields)))).to.match(message);
    });
  }

  describe('of a model', () => {
    const route = (embedsTokens: boolean) => ({ provider: { embedsTokens } });
    const model = (more: object = {}) =>
      ({
        id: 'm',
        maxInputs: 2,
        context: 3,
        tokens: false,
        routes: [route(true)],
        ...more,
      }) as unknown as EmbeddingModel;
    const check = (more: object, of: object = {}) => refuseUnsuitable(model(of), parseEmbedding(ask(more)));

    it('is accepted within its facts', () => {
      check({ input: ['a', 'b'], dimensions: 9 });
      check({ input: [[1, 2, 3]] }, { tokens: true });
      check({ dimensions: 2 }, { dimensions: { default: 3, min: 2, max: 4 } });
      check({ dimensions: 3 }, { dimensions: { default: 3 } });
    });

    for (const [more, of, message] of [
      [{ input: ['a', 'b', 'c'] }, {}, /has 3 texts, but model `m` takes at most 2/],
      [{ input: [1] }, {}, /must be a string or an array of strings: model `m` does not take token ids/],
      [{ input: [1] }, { tokens: true, routes: [route(false)] }, /does not take token ids/],
      [{ input: [[1], [1, 2, 3, 4]] }, { tokens: true }, /`input\[1\]`: has 4 tokens, but model `m` takes at most 3/],
      [{ input: [1, 2, 3, 4] }, { tokens: true }, /`input`: has 4 tokens, but model `m` takes at most 3/],
      [{ dimensions: 2 }, { dimensions: { default: 3 } }, /`dimensions`: must be 3 for model `m`/],
      [{ dimensions: 5 }, { dimensions: { default: 3, min: 2, max: 4 } }, /must be from 2 to 4 for model `m`/],
      [
        { input: Array(2000).fill('x'), dimensions: 5000 },
        { maxInputs: 2048 },
        /would have 10000000 numbers; at most 8388608/,
      ],
      [{ dimensions: 1 }, { dimensions: { default: 3, min: 2, max: 4 } }, /must be from 2 to 4/],
    ] as const) {
      it(`is refused: ${JSON.stringify(more).slice(-40)}`, () =>
        expect(messageOf(() => check(more, of))).to.match(message));
    }
  });

  it('comes whole from the thread that parses long bodies, with its estimate', async () => {
    const parser = createBodyParser();
    try {
      const inputs = ['short', 'x😀'.repeat(1_000_000), ...Array.from({ length: 2000 }, (_, at) => `number ${at}`)];
      const tokens = Array.from({ length: 1500 }, (_, at) => Array(100).fill(at));
      for (const input of [inputs, tokens]) {
        const heads: object[] = [];
        const parsed = await parser.parse(Buffer.from(JSON.stringify(ask({ input }))), {
          format: 'embedding',
          signal: new AbortController().signal,
          inspectHead: async (head) => void heads.push(head),
        });
        expect(parsed.tokens ?? parsed.inputs).to.deep.equal(input);
        expect(parsed.estimate).to.deep.equal(await estimateInputs(parsed));
        expect(heads[0]).to.deep.include({ inputs: [], model: 'm', estimate: parsed.estimate });
      }
    } finally {
      await parser.close();
    }
  });
});
