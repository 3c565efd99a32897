// The sandbox's vectors: what a program compares with today's must not change tomorrow.
import { expect } from 'chai';
import { createProvider } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/sandbox/index.ts';

const slept: number[] = [];
const clock = { now: () => 0, sleep: async (ms: number) => void slept.push(ms) };
const { provider } = createProvider({ plugin, upstream: 'sandbox', settings: {}, log: { warn() {} }, clock });

async function embed(inputs: readonly string[], dimensions?: number) {
  const call = { model: 'vectors', inputs, options: {}, ...(dimensions !== undefined && { dimensions }) };
  const { vectors, inputTokens } = (await provider.embed?.(call, new AbortController().signal)) ?? expect.fail();
  const rounded = vectors.map((vector) => [...vector].map((value) => Math.round(value * 1000) / 1000));
  return { vectors: rounded, inputTokens };
}

describe('provider sandbox: vectors', () => {
  it('are what they always were, of words in whatever case', async () => {
    const { vectors, inputTokens } = await embed(['a small cat', 'A  SMALL\ncat', 'кот', ' '], 4);
    const cat = [0, 0.615, 0.635, 0.468];
    expect(vectors).to.deep.equal([cat, cat, [0, 0, 0, 1], [0, 0, 1, 0]]);
    expect(inputTokens).to.equal(8);
  });

  it('have a length of one, and 256 numbers unless others are asked for', async () => {
    const { vectors } = await embed(['one two three four five']);
    expect(vectors[0]).to.have.length(256);
    expect(Math.hypot(...(vectors[0] ?? []))).to.be.closeTo(1, 0.01);
  });

  it('have markers for bad days', async () => {
    expect((await embed(['x', '[[empty]]'])).vectors).to.deep.equal([]);
    expect((await embed(['x', '[[undecodable]]'])).vectors).to.deep.equal([[Number.NaN], [Number.NaN]]);
    expect(slept).to.deep.equal([]);
    await embed(['[[slow]] x']);
    expect(slept).to.deep.equal([1000]);
    const failure = await embed(['[[fail]]']).catch((error: { kind?: unknown }) => error.kind);
    expect(failure).to.be.a('string');
  });
});
