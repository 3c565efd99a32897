import { expect } from 'chai';
import type { Fault } from '../../lib/base/faults.ts';
import { listModels, listOne } from '../../lib/catalog/listing.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { ALL, build, catalogOf, IMAGE, TEXT, VIDEO } from './folder.ts';

const SMART = { lite: 'text-1', standard: 'text-1', heavy: 'text-1' };
const DIMENSIONS = { default: 1024, min: 256, max: 1024 };

describe('listing of models', () => {
  it('shows exactly the usable models', () => {
    const models = [
      { ...TEXT, aliases: ['small'] },
      { ...TEXT, id: 'text-2', routes: [] },
    ];
    expect(listModels(build(catalogOf({ models })))).to.deep.equal([
      {
        id: 'text-1',
        aliases: ['small'],
        type: 'text',
        endpoint: '/v1/messages',
        unit: '1M_tokens',
        price_rub: 40,
        input_price_rub: 40,
        output_price_rub: 240.5,
        min_rub: 0.5,
        provider: 'Someone',
        object: 'model',
        created: 0,
        owned_by: 'Someone',
        display_name: 'text-1',
        max_output_tokens: 32_768,
        input_modalities: ['text'],
        supported_parameters: ['max_tokens', 'stop'],
      },
    ]);
  });

  it('shows prices of audio and the cache, and bands, of models that have them', () => {
    const rates = { input: '2', output: '10' };
    const bands = [
      { above: 1000, input: '3', output: '12' },
      { above: 200_000, input: '4', cacheRead: '0.4', output: '15' },
    ];
    const models = [
      { ...TEXT, price: { ...rates, audio: '6', cacheRead: '0.2', cacheWrite: '2.5', cacheWrite1h: '4' } },
      { ...TEXT, id: 'text-2', price: { ...rates, bands } },
    ];
    const [cached, banded] = listModels(build(catalogOf({ models })));
    expect(cached).to.deep.include({
      input_price_rub: 2,
      audio_price_rub: 6,
      cache_read_price_rub: 0.2,
      cache_write_price_rub: 2.5,
      cache_write_1h_price_rub: 4,
      output_price_rub: 10,
    });
    expect(cached).not.to.have.any.keys('price_bands');
    expect(banded).to.deep.include({
      price_rub: 2,
      price_bands: [
        { above_tokens: 1000, input_price_rub: 3, output_price_rub: 12 },
        { above_tokens: 200_000, input_price_rub: 4, cache_read_price_rub: 0.4, output_price_rub: 15 },
      ],
    });
    expect(banded).not.to.have.any.keys('audio_price_rub', 'cache_read_price_rub');
  });

  it('shows image and video models with the unit of their price', () => {
    const models = [
      IMAGE,
      VIDEO,
      { ...VIDEO, id: 'flat', price: { second: '9' } },
      { ...VIDEO, id: 'whole', price: { request: '90' } },
      { ...VIDEO, id: 'low', price: { second: { '480p': '3', '768p': '5.5' } } },
    ];
    const image = { aliases: [], type: 'image', endpoint: '/v1/images/generations', provider: 'Someone' };
    const video = { aliases: [], type: 'video', endpoint: '/v1/videos', provider: 'Someone' };
    expect(
      listModels(build(catalogOf({ models }), { one: ALL }), { served: new Set(['image', 'video']) }),
    ).to.deep.equal([
      { id: 'image-1', unit: 'request', price_rub: 12.5, ...image },
      { id: 'video-1', unit: 'second', price_rub: 15, price_rub_by_resolution: { '720p': 8, '1080p': 15 }, ...video },
      { id: 'flat', unit: 'second', price_rub: 9, ...video },
      { id: 'whole', unit: 'request', price_rub: 90, ...video },
      { id: 'low', unit: 'second', price_rub: 5.5, price_rub_by_resolution: { '480p': 3, '768p': 5.5 }, ...video },
    ]);
  });

  it('shows models of embeddings with what they take', () => {
    const embeds = { ...ALL, embed: () => undefined } as unknown as typeof ALL;
    const vector = { ...TEXT, id: 'vector-1', type: 'embedding', aliases: ['v'], price: { input: '3' } };
    const models = [
      vector,
      { ...vector, id: 'vector-2', aliases: [], context: 8192, dimensions: DIMENSIONS, maxInputs: 7 },
    ];
    const [plain, full] = listModels(build(catalogOf({ models }), { one: embeds }));
    const shared = { type: 'embedding', endpoint: '/v1/embeddings', unit: '1M_tokens', provider: 'Someone' };
    const prices = { price_rub: 3, input_price_rub: 3, min_rub: 0.5 };
    const max_inputs = (plain as { max_inputs?: number }).max_inputs;
    expect(max_inputs).to.be.above(0);
    expect(plain).to.deep.equal({ id: 'vector-1', aliases: ['v'], ...shared, ...prices, max_inputs });
    expect(full).to.deep.include({ id: 'vector-2', context_length: 8192, dimensions: DIMENSIONS, max_inputs: 7 });
  });

  it('shows smart without a price, after the models', () => {
    const listing = listModels(build(catalogOf({ smart: SMART })));
    expect(listing.map(({ id }) => id)).to.deep.equal(['text-1', 'smart']);
    expect(listing[1]).to.deep.equal({
      id: 'smart',
      aliases: ['auto'],
      type: 'text',
      endpoint: '/v1/messages',
      unit: '1M_tokens',
      price_rub: null,
      min_rub: 0.5,
      provider: 'Tollgate',
      description: "Automatic selection by complexity (lite/standard/heavy), billed at the routed model's price.",
    });
  });

  it('hides models without an endpoint', () => {
    const all = listModels(build(catalogOf(), { one: ALL })).map(({ id }) => id);
    expect(all).to.deep.equal(['text-1', 'image-1', 'video-1']);
  });

  it('hides models whose upstreams are switched off', () => {
    expect(listModels(build(catalogOf({ smart: SMART }), {}))).to.deep.equal([]);
    expect(listModels(build(catalogOf(), { one: {} }))).to.deep.equal([]);
  });

  it('shows a key its allowed models, and smart if one of its models is allowed', () => {
    const models = ['text-1', 'text-2', 'text-3'].map((id) => ({ ...TEXT, id, aliases: [`${id}-alias`] }));
    const smart = { lite: 'text-1', standard: 'text-1', heavy: 'text-2' };
    const catalog = build(catalogOf({ models, smart }));
    const one = (name: string, allowed: readonly string[]) => {
      try {
        return listOne(catalog, name, { ...NO_LIMITS, models: allowed }).id;
      } catch (error) {
        return (error as Fault).message;
      }
    };
    const rows: readonly (readonly [allowed: readonly string[], listed: readonly string[]])[] = [
      [['text-1'], ['text-1', 'smart']],
      [['text-2-alias'], ['text-2', 'smart']],
      [['text-3'], ['text-3']],
      [['smart'], []],
    ];
    expect(one('text-3', ['text-1', 'text-2'])).to.contain('It may be used for `text-1`, `text-2`.');
    for (const [allowed, listed] of rows) {
      const limits = { ...NO_LIMITS, models: allowed };
      expect(listModels(catalog, { limits }).map(({ id }) => id)).to.deep.equal(listed);
      for (const { id } of models) {
        if (listed.includes(id)) expect(one(id, allowed)).to.equal(id);
        else expect(one(id, allowed)).to.contain(`\`${id}\``).and.to.contain(`\`${allowed[0]}\``);
      }
      for (const name of ['smart', 'auto']) {
        if (listed.includes('smart')) expect(one(name, allowed)).to.equal('smart');
        else expect(one(name, allowed)).to.contain('`smart`').and.to.contain(`\`${allowed[0]}\``);
      }
    }
  });
});
