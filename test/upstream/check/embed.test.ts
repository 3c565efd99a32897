// The checks of embeddings on an example, and on the example with one defect each.
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { useAcmeFolders } from './acme-folder.ts';

const PLUGIN = `
export default {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  create(settings, host) {
    const urlOf = host.perRoute(settings, ({ baseUrl }) => baseUrl + '/vectors');
    const format = {
      body: ({ model, inputs }) => ({ model, texts: inputs }),
      read(reply) {
        const { vectors, tokens } = host.fields(reply);
        if (!Array.isArray(vectors)) throw host.fault.make('protocol', 'no vectors');
        return { vectors, inputTokens: tokens };
      },
    };
    return {
      embed: (call, signal) => host.embed(call, { method: 'POST', url: urlOf(call), auth: host.bearer, format, signal }),
    };
  },
};
`;

const RECORDINGS = [
  {
    kind: 'embed',
    name: 'two vectors',
    source: 'https://docs.acme.example/vectors',
    call: { inputs: ['one', 'two'] },
    reply: {
      json: {
        vectors: [
          [0.5, 1],
          [0.25, -1],
        ],
        tokens: 2,
      },
    },
    expect: {
      vectors: [
        [0.5, 1],
        [0.25, -1],
      ],
      inputTokens: 2,
      path: '/v1/vectors',
      request: { model: 'm', texts: ['one', 'two'] },
    },
  },
];

const DEFECTS: readonly { what: string; from: string; to: string; failing: string }[] = [
  {
    what: 'pads a list that is too short',
    from: 'return { vectors, inputTokens: tokens };',
    to: 'return { vectors: [...vectors, ...Array(9).fill(vectors[0])].slice(0, seen), inputTokens: tokens };',
    failing: 'embeddings: a vector too few is no answer',
  },
  {
    what: 'makes up a count',
    from: 'inputTokens: tokens }',
    to: 'inputTokens: tokens ?? 2 }',
    failing: 'embeddings: a reply without a count has none',
  },
  {
    what: 'reverses its vectors',
    from: 'return { vectors,',
    to: 'return { vectors: vectors.toReversed(),',
    failing: 'recording: two vectors: reads as expected',
  },
  {
    what: 'sends no key',
    from: 'auth: host.bearer, ',
    to: '',
    failing: 'asking for embed: sends the key',
  },
  {
    what: 'ignores an abort',
    from: 'format, signal }',
    to: 'format, signal: new AbortController().signal }',
    failing: 'abort of embed: before the headers closes the connection',
  },
  {
    what: 'reads an empty reply',
    from: "if (!Array.isArray(vectors)) throw host.fault.make('protocol', 'no vectors');",
    to: "if (!Array.isArray(vectors)) throw new Error('no vectors');",
    failing: 'refusals of embed: an empty object or list is no answer',
  },
  {
    what: 'cuts its inputs',
    from: 'body: ({ model, inputs }) => ({ model, texts: inputs }),',
    to: 'body: ({ model, inputs }) => ({ model, texts: inputs.map((text) => text.slice(0, 500)) }),',
    failing: 'asking for embed: sends long inputs whole',
  },
  {
    what: 'sends one model for all routes',
    from: 'body: ({ model, inputs }) => ({ model, texts: inputs }),',
    to: "body: ({ inputs }) => ({ model: 'm', texts: inputs }),",
    failing: 'asking for embed: sends the model of the route',
  },
];

describe('the contract suite on embeddings', () => {
  const writeAcme = useAcmeFolders();

  async function failures(plugin: string, recordings: object, only?: string): Promise<readonly string[]> {
    const folder = await writeAcme({
      'index.js': plugin,
      '../package.json': { type: 'module' },
      'fixtures/vectors.json': recordings,
    });
    const failed: string[] = [];
    for (const check of await collectChecks(folder)) {
      const name = `${check.group}: ${check.name}`;
      if (only === undefined || name === only) await check.run().catch(() => failed.push(name));
    }
    return failed;
  }

  itTimed('passes', async () => {
    expect(await failures(PLUGIN, RECORDINGS)).to.deep.equal([]);
  });

  it('passes where a vendor takes one input at a time', async () => {
    const one = {
      ...RECORDINGS[0],
      call: { inputs: ['one'] },
      reply: { json: { vectors: [[0.5, 1]], tokens: 1 } },
      expect: { vectors: [[0.5, 1]], inputTokens: 1, path: '/v1/vectors', request: { texts: ['one'] } },
    };
    expect(await failures(PLUGIN.replace('format, signal', 'format, inputsMax: 1, signal'), [one])).to.deep.equal([]);
  });

  for (const { what, from, to, failing } of DEFECTS) {
    it(`catches a plugin that ${what}`, async () => {
      expect(PLUGIN).to.include(from);
      const seen = 'body: ({ model, inputs }) => ({ model, texts: inputs }),';
      const broken = PLUGIN.replace(from, to).replace(
        seen,
        'body: ({ model, inputs }) => { seen = inputs.length; return { model, texts: inputs }; },',
      );
      expect(await failures(`let seen = 0;\n${broken}`, RECORDINGS, failing)).to.deep.equal([failing]);
    });
  }

  it('asks for a recording that counts', async () => {
    const [{ expect: expected, ...rest }] = RECORDINGS as [(typeof RECORDINGS)[number]];
    const uncounted = [
      { ...rest, expect: { ...expected, inputTokens: null }, reply: { json: { vectors: expected.vectors } } },
    ];
    const failing = 'asking for embed: is recorded: one recording says path and body of a request';
    expect(await failures(PLUGIN, uncounted, failing)).to.deep.equal([failing]);
  });
});
