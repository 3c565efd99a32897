import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { EmbedCall, EmbedRequest, JsonBody } from '../../../lib/upstream/contract/provider.ts';
import { checkEmbeddings, createEmbed } from '../../../lib/upstream/host/embed.ts';

const CALL: EmbedCall = { model: 'm', inputs: ['0', '1', '2', '3', '4'], options: {} };

/** Answers each request with the numbers of its inputs, the first requests last. */
function stage({ tokens = (count: number): number | undefined => count, failAt = -1 } = {}) {
  const asked: unknown[] = [];
  const aborted: boolean[] = [];
  const limits: (number | undefined)[] = [];
  const embed = createEmbed({
    async json(_url, { body, signal }, limitBytes) {
      limits.push(limitBytes);
      const at = asked.length;
      const { inputs } = (body as JsonBody)(() => '') as { inputs: string[] };
      asked.push(inputs);
      await sleep(at === failAt ? 1 : 20 - at);
      aborted[at] = signal.aborted;
      if (at === failAt) throw new Error('refused');
      const value = { vectors: inputs.map((text) => [Number(text)]), tokens: tokens(inputs.length) };
      return { status: 200, headers: {}, keyId: undefined, retryAfterMs: undefined, value };
    },
  });
  const request = (more: Partial<EmbedRequest> = {}): EmbedRequest => ({
    method: 'POST',
    url: 'https://acme.example',
    format: {
      body: ({ inputs, tokens: ids }) => ({ inputs: ids ?? inputs }),
      read(reply) {
        const { vectors, tokens: inputTokens } = reply as { vectors: number[][]; tokens?: number };
        return { vectors, ...(inputTokens !== undefined && { inputTokens }) };
      },
    },
    signal: new AbortController().signal,
    ...more,
  });
  return { asked, aborted, limits, embed, request };
}

describe('host.embed', () => {
  it('sends all inputs in one request unless the vendor takes fewer', async () => {
    const { asked, embed, request } = stage();
    await embed(CALL, request());
    expect(asked).to.deep.equal([CALL.inputs]);
  });

  it('keeps the order of inputs and adds up tokens over several requests', async () => {
    const { asked, embed, request } = stage();
    const { vectors, inputTokens } = await embed(CALL, request({ inputsMax: 2 }));
    expect(asked).to.deep.equal([['0', '1'], ['2', '3'], ['4']]);
    expect(vectors).to.deep.equal([[0], [1], [2], [3], [4]]);
    expect(inputTokens).to.equal(5);
  });

  it('takes no more of a reply than the vectors that it asks for may need', async () => {
    const limitOf = async (call: Partial<EmbedCall>) => {
      const { embed, request, limits } = stage();
      await embed({ ...CALL, ...call }, request()).catch(() => {});
      return Number(limits[0]);
    };
    const written = (count: number, dimensions: number) => {
      const embedding = Array(dimensions).fill(-0.012345678901234567);
      return JSON.stringify({ data: Array(count).fill({ index: 0, embedding }) }, null, 2).length;
    };
    const texts = (count: number) => Array<string>(count).fill('a text');
    for (const [count, dimensions] of [
      [1, 1],
      [1, 1024],
      [3, 4096],
    ] as const) {
      const limit = await limitOf({ inputs: texts(count), dimensions });
      expect(limit).to.be.above(written(count, dimensions));
      expect(limit).to.be.below(70_000 + 2 * written(count, dimensions) + count * 5_000);
    }
    expect(await limitOf({ inputs: texts(1) })).to.be.within(written(1, 12_288), 1024 * 1024);
    expect(await limitOf({ inputs: ['a'.repeat(1_000_000)], dimensions: 1 })).to.be.above(6_000_000);
    expect(await limitOf({ inputs: [], tokens: [[1, 2, 3]], dimensions: 8 })).to.be.within(60_000, 90_000);
    expect(await limitOf({ inputs: [], tokens: Array(9).fill([1]), dimensions: 900 })).to.be.above(written(9, 900));
    expect(await limitOf({ inputs: texts(2048) })).to.equal(128 * 1024 * 1024);
  });

  it('sends four requests at once, and the next ones as these are answered', async () => {
    const { asked, embed, request } = stage();
    const embedding = embed(CALL, request({ inputsMax: 1 }));
    await new Promise(setImmediate);
    expect(asked).to.have.length(4);
    await embedding;
    expect(asked).to.have.length(5);
  });

  it('splits inputs that are tokens', async () => {
    const { asked, embed, request } = stage();
    await embed({ ...CALL, inputs: [], tokens: [[7], [8], [9]] }, request({ inputsMax: 2 })).catch(() => {});
    expect(asked).to.deep.equal([[[7], [8]], [[9]]]);
  });

  it('refuses a reply with a vector too few, even if another has one too many', async () => {
    const { embed, request } = stage();
    const { format } = request();
    const uneven: EmbedRequest['format'] = {
      ...format,
      read(reply) {
        const { vectors } = format.read(reply);
        return { vectors: vectors[0]?.[0] === 0 ? vectors.slice(1) : [...vectors, [9]] };
      },
    };
    const error = await embed(
      { ...CALL, inputs: ['0', '1', '2', '3'] },
      request({ inputsMax: 2, format: uneven }),
    ).catch((thrown: Error) => thrown);
    expect(error).to.be.an('error').with.property('kind', 'protocol');
  });

  it('has no count if one reply lacks it', async () => {
    for (const lacking of [undefined, Number.NaN, -1]) {
      const { embed, request } = stage({ tokens: (count) => (count === 1 ? lacking : count) });
      expect(await embed(CALL, request({ inputsMax: 2 }))).to.not.have.property('inputTokens');
    }
  });

  it('aborts the other requests when one fails', async () => {
    const { aborted, embed, request } = stage({ failAt: 1 });
    const error = await embed(CALL, request({ inputsMax: 1 })).catch((thrown: Error) => thrown);
    expect(error).to.be.an('error').with.property('message', 'refused');
    await sleep(40);
    expect(aborted[0]).to.equal(true);
  });
});

describe('what a plugin returns for embeddings', () => {
  const call = { inputs: ['a', 'b'] };

  for (const [what, vectors] of [
    ['nothing', undefined],
    ['too few', [[1]]],
    ['too many', [[1], [1], [1]]],
    ['different lengths', [[1, 2], [1]]],
    ['empty vectors', [[], []]],
    ['NaN', [[1], [Number.NaN]]],
    ['a number that no float holds', [[1], [-1e39]]],
    ['infinity', [[1], [Number.POSITIVE_INFINITY]]],
    ['null', [[1], [null]]],
    ['text', [[1], ['1']]],
    ['NaN among floats', [new Float32Array([1]), new Float32Array([Number.NaN])]],
  ] as const) {
    it(`is refused: ${what}`, () => {
      expect(() => checkEmbeddings({ vectors } as never, call))
        .to.throw()
        .with.property('kind', 'protocol');
    });
  }

  for (const inputTokens of [-1, Number.NaN, '7e400', null, {}]) {
    it(`has no count of ${inputTokens}`, () => {
      expect(checkEmbeddings({ vectors: [[1], [2]], inputTokens } as never, call)).to.not.have.property('inputTokens');
    });
  }
});
