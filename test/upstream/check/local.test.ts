// The checks of a plugin without network, on a good one and with one defect each.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { createSampleImage } from '../../../lib/upstream/check/sample-image.ts';

const PIXEL = Buffer.from(createSampleImage('png').bytes).toString('base64');

const DESK = `
const WORDS = ['Hello', ' there', ', who', ' are', ' you', '?'];
let polls = 0;

async function* text(call, signal) {
  yield [{ type: 'start' }, { type: 'block-start', index: 0, block: { type: 'text' } }];
  const words = WORDS.slice(0, call.maxTokens);
  for (const text of words) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    yield [{ type: 'block-delta', index: 0, text }];
  }
  yield [{ type: 'usage', input: 5, output: words.length }];
  yield [{ type: 'finish', reason: words.length < WORDS.length ? 'length' : 'stop' }];
}

const embed = async ({ inputs }) => ({ vectors: inputs.map((text) => [text.length, 1]) });
const image = async () => ({ images: [{ bytes: Buffer.from('${PIXEL}', 'base64') }] });
const start = async () => ({ id: 'film' });
const poll = async () =>
  polls++ === 0 ? { status: 'processing' } : { status: 'completed', result: { url: 'https://example.com/film.mp4' } };

export default {
  contract: 2,
  name: 'desk',
  settings: (joi) => joi.object({ pace: joi.number() }),
  create: () => ({ text, embed, image, video: { start, poll } }),
};
`;

interface Defect {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly failing: string;
}

const DEFECTS: readonly Defect[] = [
  ...(
    [
      ['answers nothing', 'index: 0, text }', "index: 0, text: '' }"],
      ['counts no output', ', output: words.length', ''],
      ['counts no input', 'input: 5, ', ''],
      ['has no reason to end', "{ type: 'finish', reason", "{ type: 'alive', reason"],
    ] as const
  ).map(([what, from, to]) => ({ what, from, to, failing: 'calls: end with text, a finish and usage' })),
  {
    what: 'goes on beyond the limit',
    from: 'WORDS.slice(0, call.maxTokens)',
    to: 'WORDS',
    failing: 'calls: are cut at the limit of tokens',
  },
  {
    what: 'counts more than the limit',
    from: 'output: words.length',
    to: 'output: words.length + 1',
    failing: 'calls: are cut at the limit of tokens',
  },
  {
    what: 'goes on after an abort',
    from: 'signal.throwIfAborted();',
    to: 'await new Promise((resolve) => setTimeout(resolve, 60));',
    failing: 'calls: end at once on abort',
  },
  {
    what: 'makes other vectors each time',
    from: '[text.length, 1]',
    to: '[Math.random(), 1]',
    failing: 'embeddings: are vectors, the same every time',
  },
  {
    what: 'makes a vector too few',
    from: 'inputs.map(',
    to: 'inputs.slice(1).map(',
    failing: 'embeddings: are vectors, the same every time',
  },
  { what: 'cuts an image', from: "'base64') }", to: "'base64').subarray(0, -8) }", failing: 'images: are images' },
  { what: 'draws nothing', from: 'images: [{', to: 'images: [] || [{', failing: 'images: are images' },
  {
    what: 'fails at a film',
    from: "{ status: 'processing' }",
    to: "{ status: 'failed', fault: new Error('no film') }",
    failing: 'videos: come to their end in another process',
  },
  {
    what: 'has a film at no address',
    from: 'https://example.com/film.mp4',
    to: 'film.mp4',
    failing: 'videos: come to their end in another process',
  },
  {
    what: 'takes a text for a number',
    from: 'joi.number()',
    to: "joi.number().allow('42')",
    failing: 'settings: refuse a wrong pace',
  },
];

describe('the contract suite on a plugin without network', () => {
  let root: string;
  let count = 0;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'local-'));
    await writeFile(join(root, 'package.json'), '{ "type": "module" }');
  });
  after(() => rm(root, { recursive: true }));

  async function failures(plugin: string, only?: string): Promise<readonly string[]> {
    const folder = join(root, `${count++}`, 'desk');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'index.js'), plugin);
    const failed: string[] = [];
    for (const { group, name, run } of await collectChecks(folder)) {
      const title = `${group}: ${name}`;
      if (only === undefined || title === only) await run().catch(() => failed.push(title));
    }
    return failed;
  }

  it('passes', async () => {
    expect(await failures(DESK)).to.deep.equal([]);
  });

  for (const { what, from, to, failing } of DEFECTS) {
    it(`catches one that ${what}`, async () => {
      expect(DESK.split(from), from).to.have.length(2);
      expect(
        await failures(
          DESK.replace(from, () => to),
          failing,
        ),
      ).to.deep.equal([failing]);
    });
  }
});
