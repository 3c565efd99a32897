import { expect } from 'chai';
import { buildCatalog, type TextModel } from '../../lib/catalog/catalog.ts';
import { listModels } from '../../lib/catalog/listing.ts';
import { findSmartModel, findTextModel } from '../../lib/catalog/lookup.ts';
import { catalogFilesOf, readCatalogFiles } from '../../lib/catalog/schema.ts';
import { type Fault, isFault } from '../../lib/faults.ts';
import type { Provider } from '../../lib/plugin/contract.ts';
import { type CatalogFolder, catalogOf, IMAGE, makeFolder, mistakeOf, TEXT, upstream, VIDEO } from './folder.ts';

const SMART = { lite: 'text-1', standard: 'text-1', heavy: 'text-1' };

describe('catalog', () => {
  const provider: Provider = {
    text: async function* () {
      yield [];
    },
  };
  const mute: Provider = {};
  let folder: CatalogFolder;

  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(() => folder.remove());

  function build(content: object, providers: Readonly<Record<string, Provider>> = { one: provider }) {
    folder.write(content);
    return buildCatalog(readCatalogFiles(catalogFilesOf(folder.catalog), ['*']), new Map(Object.entries(providers)));
  }
  const mistake = (content: object) => mistakeOf(() => build(content));

  it('has the models with their prices, by id and by alias', () => {
    const { models, byName, warnings } = build(
      catalogOf({ models: [{ ...TEXT, aliases: ['small', 's'] }, IMAGE, VIDEO] }),
    );
    const text = models[0] as TextModel;
    expect(text.price).to.deep.equal({ input: 40_000_000n, output: 240_500_000n });
    expect(JSON.parse(text.prices)).to.deep.equal({ input: '40000000', output: '240500000' });
    expect([...byName.keys()]).to.deep.equal(['text-1', 'small', 's', 'image-1', 'video-1']);
    for (const name of ['small', 's']) expect(byName.get(name)).to.equal(text);
    expect(warnings).to.deep.equal([]);
  });

  it('has the routes that work, in their order', () => {
    const routes = [
      { upstream: 'off', model: 'a' },
      { upstream: 'two', model: 'b', options: { c: 1 } },
      { upstream: 'mute', model: 'd' },
      { upstream: 'one', model: 'e' },
    ];
    const upstreams = { one: upstream(), two: upstream(), off: upstream(), mute: upstream() };
    const providers = { one: provider, two: provider, mute };
    const { models } = build({ upstreams, models: [{ ...TEXT, routes }] }, providers);
    expect((models[0] as TextModel).routes).to.deep.equal([
      { upstream: 'two', provider, model: 'b', options: { c: 1 } },
      { upstream: 'one', provider, model: 'e', options: {} },
    ]);
  });

  describe('refuses', () => {
    const other = { ...TEXT, id: 'text-2' };
    const twice: readonly [name: string, content: object, used: string][] = [
      ['two models of one id', { models: [TEXT, { ...IMAGE, id: 'text-1' }] }, 'text-1'],
      ['an alias that is an id', { models: [TEXT, { ...other, aliases: ['text-1'] }] }, 'text-1'],
      ['an id that was an alias', { models: [{ ...TEXT, aliases: ['text-2'] }, other] }, 'text-2'],
      [
        'an alias of two models',
        {
          models: [
            { ...TEXT, aliases: ['a'] },
            { ...other, aliases: ['a'] },
          ],
        },
        'a',
      ],
      ['an alias twice', { models: [{ ...TEXT, aliases: ['a', 'a'] }] }, 'a'],
      ['an alias that is its own id', { models: [{ ...TEXT, aliases: ['text-1'] }] }, 'text-1'],
      ['a retired id that is in use', { models: [TEXT], retired: { 'text-1': 'text-1' } }, 'text-1'],
      ['a retired id that is an alias', { models: [{ ...TEXT, aliases: ['a'] }], retired: { a: 'text-1' } }, 'a'],
    ];
    for (const [name, content, used] of twice) {
      it(name, () => expect(mistake(catalogOf(content))).to.equal(`Bad catalog: the name ${used} is used twice`));
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
          const says = `Bad catalog: the name ${name} belongs to the smart model`;
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
            `Bad catalog: model ${model.id}: unknown upstream ${name}`,
          );
        }
      }
    });

    it('a tier that is no text model', () => {
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

    it('and names everything that is wrong', () => {
      const message = mistake(
        catalogOf({
          models: [TEXT, { ...TEXT, routes: [{ upstream: 'two', model: 'm' }] }],
          smart: { ...SMART, heavy: 'x' },
        }),
      );
      expect(message).to.equal(
        'Bad catalog: model text-1: unknown upstream two; the name text-1 is used twice; smart.heavy: x is not a text model',
      );
    });
  });

  it('takes an alias as a tier', () => {
    build(catalogOf({ models: [{ ...TEXT, aliases: ['a'] }], smart: { ...SMART, lite: 'a' } }));
  });

  it('warns of references that lead nowhere', () => {
    const { warnings } = build(
      catalogOf({
        vision: ['image-1', 'text-1'],
        defaults: { image: ['nothing', 'image-1'], edit: ['video-1'] },
        retired: { old: 'older', older: 'text-1', oldest: 'smart' },
      }),
    );
    expect(warnings).to.deep.equal([
      'vision: image-1 is not a model of type text',
      'defaults.image: nothing is not a model of type image',
      'defaults.edit: video-1 is not a model of type image',
      'retired.old: older is not a model',
    ]);
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
      it(`falls up, and down where there is none above: with ${usable.join(' and ')} alone`, () => {
        const { names, warnings } = smartOf(usable);
        expect(names).to.deep.equal(models);
        expect(warnings).to.have.length(3 - usable.length);
        for (const [at, id] of ids.entries()) {
          if (usable.includes(id)) continue;
          const tier = ['lite', 'standard', 'heavy'][at];
          expect(warnings).to.include(`smart.${tier}: none of its models has a route, ${models[at]} answers instead`);
        }
      });
    }

    it('takes the first of a tier that has a route before it falls', () => {
      const tiers = { lite: ['small', 'big', 'middle'], standard: 'middle', heavy: ['middle', 'big'] };
      expect(smartOf(['middle', 'big'], tiers).names).to.deep.equal(['big', 'middle', 'middle']);
      expect(smartOf(['big'], tiers).names).to.deep.equal(['big', 'big', 'big']);
    });

    it('is not there without any route, or without tiers', () => {
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

  describe('look-up', () => {
    const catalog = () =>
      build(
        catalogOf({
          models: [{ ...TEXT, aliases: ['small'] }, { ...TEXT, id: 'text-2', routes: [] }, IMAGE, VIDEO],
          retired: { old: 'text-1' },
        }),
      );
    const fail = (name: string): Fault => {
      try {
        findTextModel(catalog(), name);
      } catch (error) {
        if (isFault(error)) return error;
        throw error;
      }
      throw new Error('it was found');
    };

    it('finds a model by id and by alias', () => {
      expect(findTextModel(catalog(), 'text-1').id).to.equal('text-1');
      expect(findTextModel(catalog(), 'small').id).to.equal('text-1');
    });

    it('finds smart by its two names, when there is one', () => {
      const found = build(catalogOf({ smart: SMART }));
      for (const name of ['smart', 'auto']) {
        expect(findSmartModel(found, name)).to.equal(found.smart).and.to.be.an('object');
        expect(() => findSmartModel(catalog(), name)).to.throw(`Unknown model \`${name}\``);
        expect(fail(name).data?.code).to.equal('unknown_model');
      }
      for (const name of ['Smart', 'AUTO', ' smart', 'text-1', '', 'constructor']) {
        expect(findSmartModel(found, name)).to.equal(undefined);
      }
    });

    it('says what to use in place of a retired one', () => {
      expect(fail('old').message).to.equal('Model `old` is retired. Use `text-1` instead.');
    });

    it('says where other models are used', () => {
      expect(fail('image-1').message).to.contain('Use it with POST /api/v1/images/generations.');
      expect(fail('video-1').message).to.contain('Use it with POST /api/v1/videos.');
    });

    it('does not know what is not there, or has no route', () => {
      for (const name of ['nothing', 'text-2', '', 'TEXT-1', ' text-1', 'constructor', '__proto__', 'toString']) {
        expect(fail(name).data?.code).to.equal('unknown_model');
      }
    });

    it('repeats a name in one short line', () => {
      const { message } = fail(`a\nb\u0000c\u202e${'x'.repeat(5000)}`);
      expect(message).to.match(/^Unknown model `a\?b\?c\?x+…`\. See/);
      expect(message.length).to.be.below(200);
      const emoji = fail(`a${'👋'.repeat(5000)}`).message;
      expect(emoji.length).to.be.below(300);
      expect(Buffer.from(emoji).toString()).to.equal(emoji);
      expect(fail('имя-модели').message).to.contain('`имя-модели`');
    });

    it('takes no time for the longest name', () => {
      const startedAt = performance.now();
      fail('x\n'.repeat(20_000_000));
      expect(performance.now() - startedAt).to.be.below(500);
    });
  });

  describe('listing', () => {
    it('shows exactly what a key can use', () => {
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
        },
      ]);
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

    it('shows nothing whose upstreams are switched off', () => {
      expect(listModels(build(catalogOf({ smart: SMART }), {}))).to.deep.equal([]);
      expect(listModels(build(catalogOf(), { one: mute }))).to.deep.equal([]);
    });
  });
});
