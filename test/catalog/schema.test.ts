import { mkdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { listCatalogFiles, readCatalogFiles } from '../../lib/catalog/files.ts';
import { readPrice } from '../../lib/catalog/price.ts';
import { type CatalogFolder, catalogOf, IMAGE, makeFolder, mistakeOf, TEXT, upstream, VIDEO } from './folder.ts';

const withThresholds = (thresholds: object) => ({ smart: { lite: 'a', standard: 'a', heavy: 'a', thresholds } });

describe('catalog files', () => {
  let folder: CatalogFolder;
  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(() => folder.remove());

  const read = () => readCatalogFiles(listCatalogFiles(folder.catalog), ['*']);
  const readOne = (content: unknown) => {
    folder.write(content);
    return read();
  };
  const mistake = (content: unknown) => mistakeOf(() => readOne(content));

  it('fill in defaults', () => {
    const { sources, ...file } = readOne({ upstreams: { one: { plugin: 'p' } }, models: [TEXT, IMAGE] });
    expect([...(sources?.keys() ?? [])]).to.deep.equal(['upstreams.one', 'models[0]', 'models[1]']);
    expect(file).to.deep.equal({
      upstreams: { one: { plugin: 'p', settings: {}, sandbox: false } },
      payments: {},
      autoTopup: undefined,
      models: [
        {
          ...TEXT,
          aliases: [],
          order: 'listed',
          delivery: 'stream',
          vision: false,
          tools: false,
          demands: false,
          json: false,
          schema: false,
          reasoning: false,
          routes: [{ upstream: 'one', model: 'their-1', options: {} }],
        },
        {
          ...IMAGE,
          aliases: [],
          order: 'listed',
          edits: false,
          routes: [{ upstream: 'one', model: 'their-1', options: {} }],
        },
      ],
      smart: { lite: [], standard: [], heavy: [] },
      vision: [],
      visionBeyondLimits: false,
      defaults: { image: [], edit: [] },
      retired: {},
      rates: {},
      priceLists: {},
      overrides: {},
      costs: {},
    });
  });

  it('default `schema` to `json` and `demands` to `tools`', () => {
    const taken = (more: object) => {
      const [model] = readOne({ models: [{ ...TEXT, ...more }] }).models;
      return model?.type === 'text' && [model.json, model.schema, model.tools, model.demands];
    };
    expect(taken({ json: true })).to.deep.equal([true, true, false, false]);
    expect(taken({ json: true, schema: false, tools: true })).to.deep.equal([true, false, true, true]);
    expect(taken({ schema: true, tools: true, demands: false })).to.deep.equal([false, true, true, false]);
    expect(taken({ tools: true, demands: 'named' })).to.deep.equal([false, false, true, 'named']);
  });

  it('may contain line comments', () => {
    const text = `// first\n${JSON.stringify({ models: [{ ...TEXT, id: 'a//b' }] })} // last`;
    expect(readOne(text).models[0]?.id).to.equal('a//b');
  });

  it('may each define some of the tiers', () => {
    folder.write({ models: [TEXT], smart: { lite: 'text-1' } }, 'a.json');
    folder.write({ smart: { heavy: ['text-1'] } }, 'b.json');
    expect(read().smart).to.deep.equal({ lite: ['text-1'], standard: [], heavy: ['text-1'] });
  });

  it('remember the source file of each entry', () => {
    folder.write({ models: [TEXT], smart: { lite: ['x', 'y'] }, upstreams: { one: upstream() } }, 'a.json');
    folder.write({ models: [IMAGE, VIDEO], smart: { lite: 'z' }, retired: { old: 'text-1' } }, 'b.json');
    const { sources = new Map<string, string>() } = read();
    const shown = [...sources].map(([entry, path]) => `${entry} ${path.slice(folder.catalog.length + 1)}`);
    expect(shown).to.have.members([
      'upstreams.one a.json',
      'models[0] a.json',
      'smart.lite.x a.json',
      'smart.lite.y a.json',
      'models[1] b.json',
      'models[2] b.json',
      'smart.lite.z b.json',
      'retired.old b.json',
    ]);
  });

  it('may be empty', () => {
    expect(readOne({})).to.deep.include({ models: [], upstreams: {} });
  });

  it('are merged in the order of their names, *.json only', () => {
    const smart = { lite: 'text-1', standard: ['text-1'], heavy: ['text-1', 'text-2'] };
    folder.write(catalogOf({ models: [TEXT], smart, vision: ['text-1'], retired: { a: 'text-1' } }), 'b.json');
    folder.write(
      {
        upstreams: { two: upstream() },
        models: [IMAGE],
        smart: { ...smart, heavy: 'text-3' },
        vision: ['text-2'],
        defaults: { image: ['image-1'], edit: ['image-1'] },
        retired: { b: 'text-1' },
      },
      'a.json',
    );
    folder.write('no JSON at all', 'notes.txt');
    folder.write('no JSON at all', 'models.json.bak');
    const file = read();
    expect(Object.keys(file.upstreams)).to.deep.equal(['two', 'one']);
    expect(file.models.map(({ id }) => id)).to.deep.equal(['image-1', 'text-1']);
    expect(file.smart).to.deep.equal({
      lite: ['text-1', 'text-1'],
      standard: ['text-1', 'text-1'],
      heavy: ['text-3', 'text-1', 'text-2'],
    });
    expect(file.smart).not.to.have.property('thresholds');
    expect(file.vision).to.deep.equal(['text-2', 'text-1']);
    expect(file.defaults).to.deep.equal({ image: ['image-1'], edit: ['image-1'] });
    expect(file.retired).to.deep.equal({ a: 'text-1', b: 'text-1' });
  });

  it('define the thresholds of smart once, in any file', () => {
    const smart = { lite: 'text-1', standard: 'text-1', heavy: 'text-1' };
    for (const thresholds of [
      { standard: 0, heavy: 100 },
      { standard: 49.9, heavy: 50 },
    ]) {
      folder.write(catalogOf({ smart }), 'a.json');
      folder.write({ smart: { ...smart, thresholds } }, 'b.json');
      expect(read().smart.thresholds).to.deep.equal(thresholds);
      folder.write({ smart: { ...smart, thresholds } }, 'c.json');
      expect(mistakeOf(read)).to.match(/c\.json: smart\.thresholds is defined twice$/);
      folder.write({}, 'c.json');
    }
  });

  for (const [what, part] of [
    ['upstream one', { upstreams: { one: upstream() } }],
    ['payments.till', { payments: { till: { plugin: 'sandbox', settings: {} } } }],
    ['pricing', { pricing: { markup: '1.2' } }],
    ['priceLists.partner', { priceLists: { partner: { factor: '0.9' } } }],
    ['overrides.text-1', { overrides: { 'text-1': { off: true } } }],
    ['retired.old', { retired: { old: 'text-1' } }],
  ] as const) {
    it(`define ${what} once`, () => {
      folder.write(catalogOf(part), 'a.json');
      expect(() => read()).not.to.throw();
      folder.write(part, 'b.json');
      expect(mistakeOf(read)).to.match(new RegExp(`b\\.json: ${what} is defined twice$`));
    });
  }

  it('are named for a mistake in an override', () => {
    folder.write(catalogOf(), 'a.json');
    folder.write({ overrides: { 'text-1': { price: { request: '1' } } } }, 'b.json');
    expect(mistakeOf(read)).to.match(/b\.json: overrides\.text-1: /);
  });

  describe('are refused with the name of the file', () => {
    it('if the folder is missing or has none', () => {
      expect(mistakeOf(() => listCatalogFiles(join(folder.root, 'nowhere')))).to.match(
        /^CATALOG_DIR .*nowhere: .*ENOENT/,
      );
      expect(mistakeOf(read)).to.match(/^CATALOG_DIR .*: there is no \*\.json file in it$/);
    });

    it('if they are not JSON', () => {
      for (const content of ['', '{', '{"models": [}', '{"models": [],}', 'models']) {
        expect(mistake(content)).to.match(/models\.json: /);
      }
    });

    it('if they are not JSON, without quoting them', () => {
      const text = JSON.stringify(catalogOf(), null, 2).replace('"key-of-it"', 'key-of-it');
      expect(mistake(text)).not.to.contain('key-of');
      expect(mistake('{\n"a": 1,\n"b": x,\n"c": 1,\n"d": 1\n}')).to.match(/models\.json: .* in JSON near line 3$/);
    });

    it('if they are not files', () => {
      mkdirSync(join(folder.catalog, 'folder.json'));
      expect(mistakeOf(read)).to.match(/folder\.json: .*EISDIR/);
    });

    it('if they disappear meanwhile', () => {
      folder.write(catalogOf());
      const files = listCatalogFiles(folder.catalog);
      unlinkSync(join(folder.catalog, 'models.json'));
      expect(mistakeOf(() => readCatalogFiles(files, ['*']))).to.match(/models\.json: .*ENOENT/);
    });

    it('if they contain another value', () => {
      for (const content of ['[]', 'null', '7', '"text"']) expect(mistake(content)).to.match(/models\.json: /);
    });
  });

  describe('prices', () => {
    const shown = /models\[0\]\.price\.\w+ must be a decimal string in RUB above zero with at most 6 decimals/;
    for (const price of [
      '0',
      '0.0',
      '0.000000',
      '-1',
      '-0.5',
      '0.0000001',
      '1.1234567',
      ' 1',
      '1 ',
      '+1',
      '1e3',
      '1,5',
      '.5',
      '5.',
      'free',
      '٣',
      '0x10',
      'NaN',
      'Infinity',
      '1_000',
      '1000000000.000001',
    ]) {
      it(`refuse ${JSON.stringify(price)}`, () => {
        expect(mistake(catalogOf({ models: [{ ...TEXT, price: { input: price, output: '1' } }] }))).to.match(shown);
        expect(mistake(catalogOf({ models: [{ ...TEXT, price: { input: '1', output: price } }] }))).to.match(shown);
        expect(mistake(catalogOf({ models: [{ ...IMAGE, price: { request: price } }] }))).to.match(shown);
      });
    }
    for (const price of ['', 12, 0, true, ['1'], {}, null]) {
      it(`refuse ${JSON.stringify(price)}, which is not a price`, () => {
        expect(mistake(catalogOf({ models: [{ ...TEXT, price: { input: price, output: '1' } }] }))).to.match(
          /models\[0\]\.price\.input/,
        );
      });
    }
    for (const [price, micro] of [
      ['1', 1_000_000n],
      ['0.000001', 1n],
      ['12.5', 12_500_000n],
      ['007', 7_000_000n],
      ['999999.999999', 999_999_999_999n],
      ['1000000000', 1_000_000_000_000_000n],
    ] as const) {
      it(`accept ${price}`, () => {
        readOne(catalogOf({ models: [{ ...TEXT, price: { input: price, output: price } }] }));
        expect(readPrice(price)).to.equal(micro);
      });
    }

    const shapes: readonly [name: string, model: object, says: RegExp][] = [
      ['of input alone', { ...TEXT, price: { input: '1' } }, /models\[0\]\.price\.output is required/],
      ['of output alone', { ...TEXT, price: { output: '1' } }, /models\[0\]\.price\.input is required/],
      ['per request for text', { ...TEXT, price: { request: '1' } }, /models\[0\]\.price/],
      ['per second for an image', { ...IMAGE, price: { second: '1' } }, /models\[0\]\.price/],
      ['missing for an image', { ...IMAGE, price: {} }, /models\[0\]\.price\.request is required/],
      ['of two kinds for a video', { ...VIDEO, price: { second: '1', request: '1' } }, /models\[0\]\.price/],
      ['of no kind for a video', { ...VIDEO, price: {} }, /models\[0\]\.price/],
      ['of no resolution for a video', { ...VIDEO, price: { second: {} } }, /models\[0\]\.price/],
      ['of zero for a resolution', { ...VIDEO, price: { second: { '720p': '0' } } }, /models\[0\]\.price/],
      ['of zero for a second', { ...VIDEO, price: { second: '0' } }, /models\[0\]\.price/],
    ];
    for (const [name, model, says] of shapes) {
      it(`refuse ${name}`, () => expect(mistake(catalogOf({ models: [model] }))).to.match(says));
    }
    for (const price of [{ second: '9' }, { second: { '720p': '8', '4k': '20' } }, { request: '90' }]) {
      it(`accept ${JSON.stringify(price)} for a video`, () => {
        expect(readOne(catalogOf({ models: [{ ...VIDEO, price }] })).models[0]?.price).to.deep.equal(price);
      });
    }
  });

  describe('entries', () => {
    const wrong: readonly [name: string, content: object, says: RegExp][] = [
      ['an unknown type', { models: [{ ...TEXT, type: 'audio' }] }, /models\[0\]\.type/],
      ['no type', { models: [{ ...TEXT, type: undefined }] }, /models\[0\]\.type/],
      ['no id', { models: [{ ...TEXT, id: undefined }] }, /models\[0\]\.id is required/],
      ['an empty id', { models: [{ ...TEXT, id: '' }] }, /models\[0\]\.id/],
      ['no routes', { models: [{ ...TEXT, routes: undefined }] }, /models\[0\]\.routes is required/],
      ['a route without a model', { models: [{ ...TEXT, routes: [{ upstream: 'one' }] }] }, /routes\[0\]\.model/],
      ['no provider', { models: [{ ...TEXT, provider: undefined }] }, /models\[0\]\.provider is required/],
      ['an unknown delivery', { models: [{ ...TEXT, delivery: 'slow' }] }, /models\[0\]\.delivery/],
      ['additions below zero', { models: [{ ...TEXT, upstreamAdditions: -1 }] }, /models\[0\]\.upstreamAdditions/],
      ['additions that are not whole', { models: [{ ...TEXT, upstreamAdditions: 0.5 }] }, /must be an integer/],
      ['an unknown way to cache', { models: [{ ...TEXT, cache: 'always' }] }, /models\[0\]\.cache/],
      ['additions of an image', { models: [{ ...IMAGE, upstreamAdditions: 1 }] }, /upstreamAdditions is not allowed/],
      ['an unknown order', { models: [{ ...TEXT, order: 'cost' }] }, /models\[0\]\.order must be one of/],
      [
        'a cost that is no decimal',
        { models: [{ ...TEXT, routes: [{ upstream: 'one', model: 'm', cost: 12 }] }] },
        /models\[0\]\.routes\[0\]\.cost/,
      ],
      ['an unknown field', { models: [{ ...TEXT, prize: '1' }] }, /models\[0\]\.prize is not allowed/],
      ['an unknown part', { modells: [] }, /modells is not allowed/],
      ['a word for a truth', { models: [{ ...TEXT, vision: 'true' }] }, /models\[0\]\.vision/],
      ['a number for an alias', { models: [{ ...TEXT, aliases: [7] }] }, /models\[0\]\.aliases\[0\]/],
      ['an upstream without a plugin', { upstreams: { one: {} } }, /upstreams\.one\.plugin is required/],
      ['a tier of nothing', { smart: { lite: [], standard: 'a', heavy: 'b' } }, /smart\.lite/],
      ['an unknown tier', { smart: { lite: 'a', standard: 'a', heavy: 'b', huge: 'c' } }, /smart\.huge/],
      ['one threshold', withThresholds({ heavy: 60 }), /smart\.thresholds\.standard is required/],
      ['a threshold below zero', withThresholds({ standard: -1, heavy: 60 }), /thresholds\.standard/],
      ['a threshold above a hundred', withThresholds({ standard: 30, heavy: 101 }), /thresholds\.heavy/],
      ['a threshold that is no number', withThresholds({ standard: '30', heavy: 60 }), /thresholds\.standard/],
      ['a threshold of an unknown tier', withThresholds({ lite: 1, standard: 30, heavy: 60 }), /thresholds\.lite/],
      [
        'equal thresholds',
        withThresholds({ standard: 50, heavy: 50 }),
        /heavy must be above smart\.thresholds\.standard/,
      ],
      [
        'thresholds out of order',
        withThresholds({ standard: 60, heavy: 30 }),
        /heavy must be above smart\.thresholds\./,
      ],
      [
        'a cost of other decimals',
        { models: [{ ...TEXT, routes: [{ upstream: 'one', model: 'm', cost: '12,5' }] }] },
        /models\[0\]\.routes\[0\]\.cost must be a decimal string/,
      ],
      ['an id without end', { models: [{ ...TEXT, id: 'x'.repeat(201) }] }, /models\[0\]\.id/],
      ['seconds of zero', { models: [{ ...VIDEO, seconds: [0] }] }, /models\[0\]\.seconds/],
      ['no seconds', { models: [{ ...VIDEO, seconds: [] }] }, /models\[0\]\.seconds/],
      ['no aspects', { models: [{ ...VIDEO, aspects: [] }] }, /models\[0\]\.aspects/],
      [
        'a payment name without end',
        { payments: { ['x'.repeat(41)]: { plugin: 'p' } } },
        /payments\.x+ is not allowed/,
      ],
    ];
    for (const [name, content, says] of wrong) {
      it(`refuse ${name}`, () => expect(mistake(catalogOf(content))).to.match(says));
    }

    it('refuse a resolution of two digits', () => {
      const model = { ...VIDEO, price: { second: { '72p': '8' } } };
      expect(mistake(catalogOf({ models: [model] }))).to.match(/models\[0\]\.price/);
    });

    it('accept names of the maximum length', () => {
      const models = [{ ...TEXT, id: 'x'.repeat(200) }];
      const payments = { ['x'.repeat(40)]: { plugin: 'p' } };
      expect(readOne(catalogOf({ models, payments })).models[0]?.id).to.have.length(200);
    });

    it('report all mistakes at once', () => {
      const message = mistake(
        catalogOf({
          models: [
            { ...TEXT, id: '' },
            { ...IMAGE, price: {} },
          ],
        }),
      );
      expect(message)
        .to.match(/models\[0\]\.id/)
        .and.to.match(/models\[1\]\.price/);
    });

    it('never quote a key in an error', () => {
      const settings = { apiKey: 'key-of-it' };
      expect(mistake({ upstreams: { one: { plugin: 7, settings, apiKey: 'key-of-it' } } })).not.to.contain('key-of-it');
    });
  });
});
