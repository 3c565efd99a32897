// Costs from public price lists in the shapes that those have, written into a catalog.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { type ImportReport, importCosts } from '../../lib/catalog/import.ts';
import { listPriceChanges } from '../../lib/catalog/import-costs.ts';
import { listVendorPriceFormats } from '../../lib/catalog/vendor-prices.ts';
import { rejection } from '../contract/store/context.ts';
import { type CatalogFolder, makeFolder, TEXT } from './folder.ts';

const upstream = (baseUrl?: string) => ({
  plugin: 'openai-compatible',
  settings: { apiKey: 'k', ...(baseUrl && { baseUrl }) },
});
const model = (id: string, routes: readonly (readonly [upstream: string, model: string, cost?: unknown])[]) => ({
  ...TEXT,
  id,
  price: { input: '9000', output: '9000' },
  routes: routes.map(([on, name, cost]) => ({ upstream: on, model: name, ...(cost ? { cost } : {}) })),
});

/** As models.dev has it, with what is not read left out. */
const vendors = (cost: object = {}) => ({
  openai: {
    id: 'openai',
    npm: '@ai-sdk/openai',
    models: {
      small: { id: 'small', name: 'Small', cost: { input: 0.15, output: 0.6, cache_read: 0.0375, ...cost }, limit: {} },
      free: { id: 'free' },
    },
  },
  local: {
    id: 'local',
    api: 'https://llm.example.com/v1',
    models: { own: { id: 'own', cost: { input: 1e-7, output: 2 } } },
  },
});

/** As OpenRouter has it. */
const resold = (pricing: object = {}) => ({
  data: [
    { id: 'openai/small', canonical_slug: 'x', pricing: { prompt: '0.00000015', completion: '0.0000006', ...pricing } },
    { id: 'openrouter/auto', pricing: { prompt: '-1', completion: '-1' } },
  ],
});

describe('the import of costs', () => {
  let folder: CatalogFolder;
  beforeEach(() => {
    folder = makeFolder();
    folder.write({ rates: { USD: { rub: '80', from: '2026-01-01' } } }, 'rates.json');
    folder.write({
      upstreams: {
        direct: upstream(),
        reseller: upstream('https://openrouter.ai/api/v1'),
        near: upstream('https://llm.example.com/v1'),
      },
      models: [
        model('one', [
          ['direct', 'small'],
          ['reseller', 'openai/small'],
        ]),
        model('two', [['near', 'own']]),
        model('three', [['direct', 'unknown']]),
      ],
    });
  });
  afterEach(() => folder.remove());

  const path = (name: string) => join(folder.catalog, name);
  const read = (name = 'costs.json') => readFileSync(path(name), 'utf8');
  async function run(
    list: unknown,
    options: { format?: string; into?: string; accept?: boolean } = {},
  ): Promise<ImportReport> {
    const { format = 'models-dev', into, accept = true } = options;
    const file = join(folder.root, 'list.json');
    writeFileSync(file, typeof list === 'string' ? list : JSON.stringify(list));
    const config = {
      catalogDir: folder.catalog,
      catalogVariables: ['*'],
      providersPath: [],
      paymentsPath: [],
      env: {},
      totalTimeoutMs: 1,
    };
    return importCosts(config, { format, list: file, into: into && path(into), accept });
  }
  const costs = (name?: string) => JSON.parse(read(name)).costs;
  const names = (changes: ImportReport['written']) =>
    changes.map(({ upstream: on, model: name, needs }) => `${on} ${name} ${needs ?? 'ok'}`);

  it('knows its formats', () => expect(listVendorPriceFormats()).to.deep.equal(['models-dev', 'openrouter']));

  it('finds routes by the host of their upstream, also a default one, and by the vendor`s own name', async () => {
    const report = await run(vendors());
    expect(names(report.written)).to.deep.equal(['direct small new', 'near own new']);
    expect(report).to.deep.include({ heldBack: [], unchanged: 0, elsewhere: [], refusal: undefined });
    expect(report.unlisted).to.deep.equal(['reseller: openai/small', 'direct: unknown']);
    expect(read()).to.equal(`{
  "costs": {
    "direct": {
      "small": { "currency": "USD", "input": "0.15", "output": "0.6", "cacheRead": "0.0375" }
    },
    "near": {
      "own": { "currency": "USD", "input": "0.000001", "output": "2" }
    }
  }
}
`);
  });

  it('reads prices per token, and leaves out what has none', async () => {
    const list = resold({ input_cache_read: '0.000000015', input_cache_write: '0.000000187500', request: '0' });
    const report = await run(list, { format: 'openrouter' });
    expect(names(report.written)).to.deep.equal(['reseller openai/small new']);
    expect(costs()).to.deep.equal({
      reseller: {
        'openai/small': { currency: 'USD', input: '0.15', output: '0.6', cacheRead: '0.015', cacheWrite: '0.1875' },
      },
    });
  });

  it('reads bands, and keeps what the list does not state', async () => {
    const band = { above: 200_000, input: '9', output: '9', audio: '9', cacheWrite1h: '0.9' };
    const known = {
      currency: 'USD',
      input: '0.15',
      output: '0.6',
      audio: '0.5',
      cacheRead: '0.03',
      cacheWrite1h: '0.3',
      bands: [band],
    };
    folder.write({ costs: { direct: { small: known } } }, 'costs.json');
    const tier = (size: number, input: number) => ({ tier: { type: 'context', size }, input, output: 1.2 });
    await run(vendors({ tiers: [tier(400_000, 0.4), tier(200_000, 0.3)], context_over_200k: { input: 5, output: 5 } }));
    expect(costs().direct.small).to.deep.equal({
      ...{ currency: 'USD', input: '0.15', output: '0.6', audio: '0.5', cacheRead: '0.0375', cacheWrite1h: '0.3' },
      bands: [
        { above: 200_000, input: '0.3', output: '1.2', audio: '9', cacheWrite1h: '0.9' },
        { above: 400_000, input: '0.4', output: '1.2' },
      ],
    });
    const again = await run(vendors());
    expect([again.unchanged, again.written]).to.deep.equal([2, []]);
  });

  it('keeps no price of reading above the new input price', async () => {
    const known = { currency: 'USD', input: '0.3', output: '0.6', cacheRead: '0.2', cacheWrite: '0.4' };
    folder.write({ costs: { direct: { small: known } } }, 'costs.json');
    await run(vendors({ cache_read: undefined }));
    expect(costs().direct.small).to.deep.equal({ currency: 'USD', input: '0.15', output: '0.6', cacheWrite: '0.4' });
  });

  it('keeps a price of reading that is the new input price', async () => {
    const known = { currency: 'USD', input: '0.3', output: '0.6', cacheRead: '0.15' };
    folder.write({ costs: { direct: { small: known } } }, 'costs.json');
    await run(vendors({ cache_read: undefined }));
    expect(costs().direct.small).to.include({ input: '0.15', cacheRead: '0.15' });
  });

  it('takes the input alone of a model of embeddings', async () => {
    const { output: _, ...price } = { input: '9000', output: '' };
    folder.write({
      upstreams: { direct: upstream() },
      models: [{ ...model('one', [['direct', 'small']]), type: 'embedding', price }],
    });
    expect(names((await run(vendors())).written)).to.deep.equal(['direct small new']);
    expect(costs()).to.deep.equal({ direct: { small: { currency: 'USD', input: '0.15' } } });
  });

  it('writes a cost on one line where that has at most 120 characters, with its name', async () => {
    const lengths: number[] = [];
    for (let length = 20; length <= 40; length += 1) {
      const name = `n${'x'.repeat(length - 1)}`;
      folder.write({
        upstreams: { near: upstream('https://llm.example.com/v1') },
        models: [model('two', [['near', name]])],
      });
      folder.write({ costs: {} }, 'costs.json');
      const own = { id: name, cost: { input: 0.123456, output: 0.123456, cache_read: 0.023456 } };
      await run({ local: { id: 'local', api: 'https://llm.example.com/v1', models: { [name]: own } } });
      const line =
        read()
          .split('\n')
          .find((each) => each.includes(name)) ?? '';
      if (line.endsWith('}')) lengths.push(line.length);
      else expect(read()).to.contain(`      "${name}": {\n        "currency": "USD",\n        "input": "0.123456",\n`);
    }
    // A comma may follow.
    expect(Math.max(...lengths)).to.equal(119);
  });

  it('passes over the routes of the sandbox', async () => {
    folder.write({
      upstreams: { direct: { ...upstream(), sandbox: true } },
      models: [model('one', [['direct', 'small']])],
    });
    expect(await run(vendors())).to.deep.include({ written: [], unlisted: [] });
  });

  it('writes nothing new and no rise above a fifth unless it is accepted', async () => {
    const known = { currency: 'USD', input: '0.125', output: '0.5', cacheRead: '0.0375' };
    folder.write({ costs: { direct: { small: known } } }, 'costs.json');
    const within = await run(vendors(), { accept: false });
    expect([names(within.written), names(within.heldBack)]).to.deep.equal([['direct small ok'], ['near own new']]);
    expect(Object.keys(costs())).to.deep.equal(['direct']);
    const before = read();
    const above = await run(vendors({ cache_read: 0.045001 }), { accept: false });
    expect([names(above.written), names(above.heldBack)]).to.deep.equal([[], ['direct small rise', 'near own new']]);
    expect(read()).to.equal(before);
    expect(above.heldBack.map(listPriceChanges)[0]).to.deep.equal([
      { name: 'cacheRead', before: '0.0375', after: '0.045001' },
    ]);
    expect(names((await run(vendors({ cache_read: 0.045001 }))).written)).to.deep.equal([
      'direct small rise',
      'near own new',
    ]);
  });

  it('asks before a price becomes zero, which lists write for what they do not know', async () => {
    const known = { currency: 'USD', input: '0.15', output: '0.6', cacheRead: '0.0375' };
    folder.write({ costs: { direct: { small: known } } }, 'costs.json');
    for (const cost of [{ input: 0 }, { output: 0 }]) {
      const { written, heldBack } = await run(vendors(cost), { accept: false });
      expect([names(written), names(heldBack)]).to.deep.equal([[], ['direct small zero', 'near own new']]);
    }
  });

  it('counts a write that becomes dearer than the input as a rise, and asks before another currency', async () => {
    folder.write({ costs: { direct: { small: { currency: 'USD', input: '0.15', output: '0.6' } } } }, 'costs.json');
    const dearer = await run(vendors({ cache_write: 0.19 }), { accept: false });
    expect(names(dearer.heldBack)[0]).to.equal('direct small rise');
    folder.write(
      { costs: { direct: { small: { currency: 'RUB', input: '15', output: '60', cacheWrite: '3' } } } },
      'costs.json',
    );
    const other = await run(vendors(), { accept: false });
    expect(names(other.heldBack)[0]).to.equal('direct small currency');
    await run(vendors());
    expect(costs().direct.small).to.deep.equal({ currency: 'USD', input: '0.15', output: '0.6', cacheRead: '0.0375' });
  });

  it('keeps comments and everything else of the file, its mode, and a link to it', async () => {
    const text = `{
  // Costs, from the list of Monday.
  "costs": {
    "direct": {
      "old": { "currency": "USD", "input": "7", "output": "8" }, // by hand
      "small": { "currency": "USD", "input": "0.14", "output": "0.6" }
    }
  },
  "vision": [ "one" ]
}
`;
    mkdirSync(join(folder.root, 'elsewhere'));
    const real = join(folder.root, 'elsewhere', 'real.txt');
    writeFileSync(real, text);
    chmodSync(real, 0o600);
    symlinkSync(real, path('costs.json'));
    await run(vendors(), { accept: false });
    const after = '"input": "0.15", "output": "0.6", "cacheRead": "0.0375" }';
    expect(read()).to.equal(text.replace('"input": "0.14", "output": "0.6" }', after));
    expect(statSync(real).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder.catalog).sort()).to.deep.equal(['costs.json', 'models.json', 'rates.json']);
    expect(readdirSync(join(folder.root, 'elsewhere'))).to.deep.equal(['real.txt']);
  });

  it('leaves costs that are written elsewhere, and says where', async () => {
    folder.write({ costs: { near: { own: { currency: 'USD', input: '5', output: '5' } } } }, 'mine.json');
    folder.write({
      upstreams: { direct: upstream(), near: upstream('https://llm.example.com/v1') },
      models: [
        model('one', [['direct', 'small', { currency: 'USD', input: '5', output: '5' }]]),
        model('two', [['near', 'own']]),
      ],
    });
    const report = await run(vendors());
    expect(report.elsewhere).to.deep.equal([
      'direct: small (its route has a cost of its own)',
      `near: own (${path('mine.json')})`,
    ]);
    expect([report.written, existsSync(path('costs.json'))]).to.deep.equal([[], false]);
    expect(names((await run(vendors(), { into: 'mine.json' })).written)).to.deep.equal(['near own ok']);
    expect(costs('mine.json').near.own).to.deep.equal({ currency: 'USD', input: '0.000001', output: '2' });
  });

  it('says if a start would refuse the catalog with the new costs', async () => {
    const report = await run(vendors({ input: 200 }));
    expect(report.written).to.have.length(2);
    expect(report.refusal).to.contain('price.input is 9000.00 RUB, below the cost over direct (small), 16000.00 RUB');
  });

  const bad: readonly [name: string, list: unknown, says: RegExp, options?: object][] = [
    ['no JSON', '{ "openai": ', /list\.json: is not JSON/],
    ['another JSON', [1, 2], /list\.json: has no vendors; it is not the list of https:\/\/models\.dev\/api\.json/],
    ['vendors without models', { openai: {} }, /list\.json: no vendor in it has models/],
    ['a negative price', vendors({ input: -1 }), /list\.json: openai small: cost\.input is not a price/],
    ['a price in words', vendors({ output: 'free' }), /openai small: cost\.output is not a price/],
    ['a price that is missing', vendors({ output: undefined }), /openai small: cost\.output is not a price/],
    ['a price without end', vendors({ input: 1e300 }), /openai small: cost\.input is not a price/],
    ['a price that no vendor has', vendors({ input: 1e21 }), /openai small: cost\.input is not a price/],
    ['the list of another format', vendors(), /has no list of models with their pricing/, { format: 'openrouter' }],
    [
      'a bad price per token',
      resold({ prompt: {} }),
      /openai\/small: pricing\.prompt is not a price/,
      { format: 'openrouter' },
    ],
    [
      'an unknown format',
      vendors(),
      /litellm: unknown format; known are models-dev, openrouter/,
      { format: 'litellm' },
    ],
    ['a target elsewhere', vendors(), /is not a \*\.json file in CATALOG_DIR/, { into: '../costs.json' }],
    ['a target of another kind', vendors(), /is not a \*\.json file in CATALOG_DIR/, { into: 'costs.txt' }],
  ];
  for (const [name, list, says, options] of bad) {
    it(`refuses ${name}, and writes nothing`, async () => {
      const error = await rejection(run(list, options));
      expect(error).to.be.instanceOf(OperatorError);
      expect((error as Error).message).to.match(says);
      expect(readdirSync(folder.catalog).sort()).to.deep.equal(['models.json', 'rates.json']);
    });
  }

  it('refuses a list that is not there, and a bad catalog', async () => {
    const config = {
      catalogDir: folder.catalog,
      catalogVariables: ['*'],
      providersPath: [],
      paymentsPath: [],
      env: {},
      totalTimeoutMs: 1,
    };
    const options = { format: 'models-dev', list: join(folder.root, 'none.json'), into: undefined, accept: true };
    expect(`${await rejection(importCosts(config, options))}`).to.match(/none\.json: cannot be read \(ENOENT\)/);
    folder.write('{', 'costs.json');
    expect(`${await rejection(run(vendors()))}`).to.match(/costs\.json: /);
    expect(read()).to.equal('{');
  });
});
