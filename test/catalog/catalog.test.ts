import { expect } from 'chai';
import type { TextModel } from '../../lib/catalog/model.ts';
import type { Provider } from '../../lib/upstream/contract/provider.ts';
import { ALL, build, catalogOf, IMAGE, mistakeOf, PROVIDER, TEXT, upstream, VIDEO } from './folder.ts';

/** The file that every mistake of these tests is in. */
const FILE = /[^ ]*\/models\.json: /g;

const SMART = { lite: 'text-1', standard: 'text-1', heavy: 'text-1' };

describe('catalog', () => {
  const mute: Provider = {};
  /** With every mistake its file, which is always the same. */
  const mistake = (content: object) => {
    const says = mistakeOf(() => build(content));
    expect(says.match(FILE)?.length).to.equal(says.split('; ').length);
    return says.replaceAll(FILE, '');
  };

  it('warns of a route whose plugin has no models of its type', () => {
    const upstreams = { one: upstream(), two: upstream() };
    const routes = ['one', 'two'].map((on) => ({ upstream: on, model: 'm' }));
    const content = catalogOf({ upstreams, models: [{ ...TEXT, routes }] });
    const draws = { image: () => undefined } as unknown as Provider;
    const { models, warnings } = build(content, { one: ALL, two: draws });
    expect((models[0] as TextModel).routes.map((route) => route.upstream)).to.deep.equal(['one']);
    expect(warnings).to.deep.equal([`model ${TEXT.id}: the plugin of its upstream two has no models of type text`]);
    const off = catalogOf({ upstreams, models: [{ ...TEXT, routes, off: true }] });
    expect(build(off, { one: ALL, two: draws }).warnings).to.deep.equal([]);
  });

  it('warns of a model of embeddings that takes tokens where an upstream does not', () => {
    const embeds = (embedsTokens: boolean) => ({ ...ALL, embed: () => undefined, embedsTokens }) as unknown as Provider;
    const routes = ['one', 'two'].map((on) => ({ upstream: on, model: 'm' }));
    const vector = { ...TEXT, id: 'vector-1', type: 'embedding', price: { input: '3' }, routes };
    const warned = (tokens: boolean, one: boolean, two: boolean) => {
      const upstreams = { one: upstream(), two: upstream() };
      const content = catalogOf({ upstreams, models: [{ ...vector, tokens }] });
      return build(content, { one: embeds(one), two: embeds(two) }).warnings;
    };
    expect([warned(true, true, true), warned(false, true, false)]).to.deep.equal([[], []]);
    for (const [one, two] of [
      [true, false],
      [false, false],
    ] as const)
      expect(warned(true, one, two)).to.deep.equal([
        'model vector-1: tokens: not all of its upstreams take inputs that are tokens',
      ]);
  });

  it('finds models with their prices by id and by alias', () => {
    const { models, byName, warnings } = build(
      catalogOf({ models: [{ ...TEXT, aliases: ['small', 's'] }, IMAGE, VIDEO] }),
      { one: ALL },
    );
    const text = models[0] as TextModel;
    expect(text.price).to.deep.equal({ input: 40_000_000n, output: 240_500_000n });
    expect(JSON.parse(text.prices)).to.deep.equal({ input: '40000000', output: '240500000' });
    expect([...byName.keys()]).to.deep.equal(['text-1', 'small', 's', 'image-1', 'video-1']);
    for (const name of ['small', 's']) expect(byName.get(name)).to.equal(text);
    expect(warnings).to.deep.equal([]);
  });

  it('has the usable routes in their order', () => {
    const routes = [
      { upstream: 'off', model: 'a' },
      { upstream: 'two', model: 'b', options: { c: 1 } },
      { upstream: 'mute', model: 'd' },
      { upstream: 'one', model: 'e' },
    ];
    const upstreams = { one: upstream(), two: upstream(), off: upstream(), mute: upstream() };
    const providers = { one: PROVIDER, two: PROVIDER, mute };
    const { models } = build({ upstreams, models: [{ ...TEXT, routes }] }, providers);
    expect((models[0] as TextModel).routes).to.deep.equal([
      {
        upstream: 'two',
        key: 'text two b',
        provider: PROVIDER,
        origin: 'https://two.test',
        proxy: 'http://proxy.two.test',
        model: 'b',
        options: { c: 1 },
        rank: 1,
        keys: 0,
      },
      {
        upstream: 'one',
        key: 'text one e',
        provider: PROVIDER,
        origin: 'https://one.test',
        proxy: 'http://proxy.one.test',
        model: 'e',
        options: {},
        rank: 3,
        keys: 0,
      },
    ]);
  });

  it('sorts routes by price if so ordered, with unknown costs last', () => {
    const costs = [undefined, '900.5', '90', undefined, '90', '1000'];
    const routes = costs.map((cost, at) => ({ upstream: 'one', model: `${at}`, ...(cost && { cost }) }));
    const modelsOf = (order?: string) => {
      const { models } = build(catalogOf({ models: [{ ...TEXT, routes, ...(order && { order }) }] }));
      return (models[0] as TextModel).routes.map(({ model }) => model).join('');
    };
    expect([modelsOf('price'), modelsOf('listed'), modelsOf('latency'), modelsOf()]).to.deep.equal([
      '241503',
      '012345',
      '012345',
      '012345',
    ]);
  });

  it('ranks routes by their order: equal costs are preferred equally, and so are all by latency', () => {
    const routes = ['9', '5', undefined, '5', undefined].map((cost, at) => {
      return { upstream: 'one', model: `${at}`, ...(cost && { cost }) };
    });
    const ranksOf = (order: string) => {
      const { models } = build(catalogOf({ models: [{ ...TEXT, routes, order }] }));
      return (models[0] as TextModel).routes.map(({ model, rank }) => `${model}:${rank}`).join(' ');
    };
    expect(ranksOf('listed')).to.equal('0:0 1:1 2:2 3:3 4:4');
    expect(ranksOf('price')).to.equal('1:0 3:0 0:2 2:3 4:4');
    expect(ranksOf('latency')).to.equal('0:0 1:0 2:0 3:0 4:0');
  });

  describe('refuses', () => {
    const other = { ...TEXT, id: 'text-2' };
    const twice: readonly [name: string, content: object, used: string][] = [
      ['two models of one id', { models: [TEXT, { ...IMAGE, id: 'text-1' }] }, 'model text-1: id: the name text-1'],
      [
        'an alias that is an id',
        { models: [TEXT, { ...other, aliases: ['text-1'] }] },
        'model text-2: aliases: the name text-1',
      ],
      [
        'an id that was an alias',
        { models: [{ ...TEXT, aliases: ['text-2'] }, other] },
        'model text-2: id: the name text-2',
      ],
      [
        'an alias of two models',
        {
          models: [
            { ...TEXT, aliases: ['a'] },
            { ...other, aliases: ['a'] },
          ],
        },
        'model text-2: aliases: the name a',
      ],
      ['an alias twice', { models: [{ ...TEXT, aliases: ['a', 'a'] }] }, 'model text-1: aliases: the name a'],
      [
        'an alias that is its own id',
        { models: [{ ...TEXT, aliases: ['text-1'] }] },
        'model text-1: aliases: the name text-1',
      ],
      [
        'a retired id that is in use',
        { models: [TEXT], retired: { 'text-1': 'text-1' } },
        'retired.text-1: the name text-1',
      ],
      [
        'a retired id that is an alias',
        { models: [{ ...TEXT, aliases: ['a'] }], retired: { a: 'text-1' } },
        'retired.a: the name a',
      ],
    ];
    for (const [name, content, used] of twice) {
      it(name, () => expect(mistake(catalogOf(content))).to.equal(`Bad catalog: ${used} is used twice`));
    }

    for (const name of ['smart', 'auto']) {
      const reserved: readonly [what: string, content: object][] = [
        ['an id', { models: [{ ...TEXT, id: name }] }],
        ['an image', { models: [{ ...IMAGE, id: name }] }],
        ['an alias', { models: [{ ...TEXT, aliases: [name] }] }],
        ['a retired id', { retired: { [name]: 'text-1' } }],
      ];
      for (const [what, content] of reserved) {
        it(`${what} named ${name}, with tiers and without`, () => {
          const says = `the name ${name} belongs to the smart model`;
          expect(mistake(catalogOf(content))).to.contain(says);
          expect(mistake(catalogOf({ ...content, smart: SMART }))).to.contain(says);
        });
      }
    }

    it('a route to an unknown upstream, also of images', () => {
      for (const model of [TEXT, IMAGE, VIDEO]) {
        for (const name of ['two', 'constructor', '__proto__']) {
          const wrong = { ...model, routes: [{ upstream: name, model: 'm' }] };
          expect(mistake(catalogOf({ models: [wrong] }))).to.equal(
            `Bad catalog: model ${model.id}: routes[0].upstream: unknown upstream ${name}`,
          );
        }
      }
    });

    it('a tier that is not a text model', () => {
      for (const name of ['image-1', 'nothing', 'smart', 'constructor']) {
        for (const tier of ['lite', 'standard', 'heavy']) {
          for (const value of [name, ['text-1', name]]) {
            expect(mistake(catalogOf({ smart: { ...SMART, [tier]: value } }))).to.equal(
              `Bad catalog: smart.${tier}: ${name} is not a text model`,
            );
          }
        }
      }
    });

    it('and lists all mistakes', () => {
      const message = mistake(
        catalogOf({
          models: [TEXT, { ...TEXT, routes: [{ upstream: 'two', model: 'm' }] }],
          smart: { ...SMART, heavy: 'x' },
        }),
      );
      expect(message).to.equal(
        'Bad catalog: model text-1: routes[0].upstream: unknown upstream two; model text-1: id: the name text-1 is used twice; ' +
          'smart.heavy: x is not a text model',
      );
    });
  });

  it('accepts an alias as a tier', () => {
    const { smart } = build(catalogOf({ models: [{ ...TEXT, aliases: ['a'] }], smart: { ...SMART, lite: 'a' } }));
    expect(smart?.models.lite.id).to.equal('text-1');
  });

  it('warns about dangling references', () => {
    const { warnings } = build(
      catalogOf({
        vision: ['image-1', 'text-1'],
        defaults: { image: ['nothing', 'image-1'], edit: ['video-1', 'image-1'] },
        retired: { old: 'older', older: 'text-1', oldest: 'smart' },
      }),
      { one: ALL },
    );
    expect(warnings).to.deep.equal([
      'vision: image-1 is not a model of type text',
      'defaults.image: nothing is not a model of type image',
      'defaults.edit: video-1 is not a model of type image',
      'defaults.edit: image-1 does not edit',
      'retired.old: older is not a model',
    ]);
  });

  it("has routes only to upstreams that support the model's type", () => {
    const { models } = build(catalogOf(), { one: { image: () => undefined } as unknown as Provider });
    expect(models.map(({ routes }) => routes.length)).to.deep.equal([0, 1, 0]);
  });

  it('has numeric prices of cached tokens and of bands; absent ones stay absent', () => {
    const price = {
      input: '2',
      output: '10',
      cacheRead: '0.2',
      bands: [{ above: 200_000, output: '15', cacheWrite1h: '8', input: '4' }],
    };
    const [model] = build(catalogOf({ models: [{ ...TEXT, price }] })).models;
    const { price: numeric, prices } = model as TextModel;
    expect(numeric).to.deep.equal({
      input: 2_000_000n,
      cacheRead: 200_000n,
      output: 10_000_000n,
      bands: [{ above: 200_000, input: 4_000_000n, cacheWrite1h: 8_000_000n, output: 15_000_000n }],
    });
    expect(prices).to.equal(
      '{"input":"2000000","cacheRead":"200000","output":"10000000",' +
        '"bands":[{"above":200000,"input":"4000000","cacheWrite1h":"8000000","output":"15000000"}]}',
    );
  });

  it('has numeric prices of images and videos', () => {
    const priced = (price: object) => build(catalogOf({ models: [{ ...VIDEO, price }] })).models[0]?.price;
    expect(build(catalogOf({ models: [IMAGE] })).models[0]?.price).to.deep.equal({ request: 12_500_000n });
    expect(priced({ second: '9' })).to.deep.equal({ unit: 'second', second: 9_000_000n });
    expect(priced({ request: '90' })).to.deep.equal({ unit: 'request', request: 90_000_000n });
    expect(priced({ second: { '720p': '8', '2k': '15' } })).to.deep.equal({
      unit: 'second',
      byResolution: new Map([
        ['720p', 8_000_000n],
        ['2k', 15_000_000n],
      ]),
    });
  });

  describe('the lists of vision and defaults', () => {
    const off = { routes: [{ upstream: 'off', model: 'm' }] };
    const upstreams = { one: upstream(), off: upstream() };

    it('skip models without a route and, for edits, models that do not edit', () => {
      const models = [
        { ...TEXT, id: 'blind', ...off },
        { ...TEXT, id: 'seeing' },
        { ...IMAGE, id: 'gone', edits: true, ...off },
        IMAGE,
        { ...IMAGE, id: 'editor', edits: true },
      ];
      const edit = ['gone', 'image-1', 'editor'];
      const lists = { vision: ['blind', 'seeing'], defaults: { image: ['gone', 'image-1'], edit } };
      const { vision, defaults } = build({ upstreams, models, ...lists }, { one: ALL });
      expect(vision.map(({ id }) => id)).to.deep.equal(['seeing']);
      expect([defaults.image?.id, defaults.edit?.id]).to.deep.equal(['image-1', 'editor']);
    });

    it('may be empty in the end', () => {
      const { vision, defaults } = build(catalogOf(), { one: ALL });
      expect({ vision, defaults }).to.deep.equal({ vision: [], defaults: { image: undefined, edit: undefined } });
    });
  });

  describe('smart', () => {
    const ids = ['small', 'middle', 'big'] as const;
    /** Three models of one tier each; only the named ones have a route. */
    function smartOf(usable: readonly string[], smart: object = { lite: 'small', standard: 'middle', heavy: 'big' }) {
      const routes = (id: string) => (usable.includes(id) ? TEXT.routes : [{ upstream: 'off', model: 'm' }]);
      const models = ids.map((id) => ({ ...TEXT, id, routes: routes(id) }));
      const { smart: built, warnings } = build({ upstreams: { one: upstream(), off: upstream() }, models, smart });
      return { built, names: Object.values(built?.models ?? {}).map(({ id }) => id), warnings };
    }

    it('has a model for each tier', () => {
      const { built, names, warnings } = smartOf(ids);
      expect(Object.keys(built?.models ?? {})).to.deep.equal(['lite', 'standard', 'heavy']);
      expect(names).to.deep.equal(ids);
      expect(built?.thresholds).to.equal(undefined);
      expect(warnings).to.deep.equal([]);
    });

    const falls: readonly (readonly [usable: readonly string[], models: readonly string[]])[] = [
      [
        ['middle', 'big'],
        ['middle', 'middle', 'big'],
      ],
      [
        ['small', 'big'],
        ['small', 'big', 'big'],
      ],
      [
        ['small', 'middle'],
        ['small', 'middle', 'middle'],
      ],
      [['small'], ['small', 'small', 'small']],
      [['middle'], ['middle', 'middle', 'middle']],
      [['big'], ['big', 'big', 'big']],
    ];
    for (const [usable, models] of falls) {
      it(`uses a higher tier, or else a lower one: with ${usable.join(' and ')} alone`, () => {
        const { names, warnings } = smartOf(usable);
        expect(names).to.deep.equal(models);
        expect(warnings).to.have.length(3 - usable.length);
        for (const [at, id] of ids.entries()) {
          if (usable.includes(id)) continue;
          const tier = ['lite', 'standard', 'heavy'][at];
          expect(warnings).to.include(`smart.${tier}: none of its models has a route; ${models[at]} answers instead`);
        }
      });
    }

    it('uses the first usable model of a tier before another tier', () => {
      const tiers = { lite: ['small', 'big', 'middle'], standard: 'middle', heavy: ['middle', 'big'] };
      expect(smartOf(['middle', 'big'], tiers).names).to.deep.equal(['big', 'middle', 'middle']);
      expect(smartOf(['big'], tiers).names).to.deep.equal(['big', 'big', 'big']);
    });

    it('also replaces a tier that no file defines', () => {
      expect(smartOf(ids, { standard: 'middle' }).names).to.deep.equal(['middle', 'middle', 'middle']);
    });

    it('does not exist without a route or without tiers', () => {
      expect(smartOf([]).built).to.equal(undefined);
      expect(smartOf([]).warnings).to.deep.equal([]);
      expect(build(catalogOf()).smart).to.equal(undefined);
    });

    it('has the thresholds of the catalog', () => {
      const thresholds = { standard: 20, heavy: 90.5 };
      expect(smartOf(ids, { lite: 'small', standard: 'middle', heavy: 'big', thresholds }).built).to.deep.include({
        thresholds,
      });
    });
  });
});
