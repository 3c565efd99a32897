// The least and the most that a catalog file may say of a model.
import { expect } from 'chai';
import { listCatalogFiles, readCatalogFiles } from '../../lib/catalog/files.ts';
import { type CatalogFolder, catalogOf, IMAGE, makeFolder, mistakeOf, TEXT, VIDEO } from './folder.ts';

describe('the facts of a model in catalog files', () => {
  let folder: CatalogFolder;
  before(() => {
    folder = makeFolder();
  });
  after(() => folder.remove());

  const readOne = (content: unknown) => {
    folder.write(content);
    return readCatalogFiles(listCatalogFiles(folder.catalog), ['*']);
  };
  const mistake = (content: unknown) => mistakeOf(() => readOne(content));

  const EMBEDDING = { ...TEXT, id: 'vector-1', type: 'embedding', price: { input: '2' } };
  const bounds: readonly [model: object, field: string, fits: readonly unknown[], not: readonly unknown[]][] = [
    [TEXT, 'context', [1, 2_000_000], [0, 1.5, '1000']],
    [TEXT, 'maxOutput', [1, 128_000], [0, 1.5, '1000']],
    [TEXT, 'firstTokenMs', [1, 600_000], [0, 1.5, '1000']],
    [TEXT, 'upstreamAdditions', [0, 50], [-1, 1.5, '50']],
    [TEXT, 'onLoss', ['raise'], ['keep', true]],
    [TEXT, 'loss', [true, false, 'vision'], ['text']],
    [IMAGE, 'loss', [true, false], ['vision']],
    [VIDEO, 'seconds', [[1], [5, 10]], [[], [0], [1.5], ['5'], 5]],
    [VIDEO, 'aspects', [['16:9'], ['16:9', '1:1']], [[], [''], '16:9']],
    [EMBEDDING, 'context', [1, 8192], [0, 1.5]],
    [EMBEDDING, 'maxInputs', [1, 2048], [0, 2049, 1.5]],
    [
      EMBEDDING,
      'dimensions',
      [{ default: 1 }, { default: 65_536 }, { default: 8, min: 1, max: 65_536 }, { default: 8, min: 8, max: 8 }],
      [
        {},
        { default: 0 },
        { default: 65_537 },
        { default: 8, min: 0, max: 8 },
        { default: 8, min: 8, max: 65_537 },
        { default: 8, min: 9, max: 9 },
        { default: 8, min: 4, max: 7 },
        { default: 8, min: 4 },
        { default: 8, max: 16 },
      ],
    ],
  ];
  for (const [model, field, fits, not] of bounds) {
    const { type } = model as { readonly type: string };
    it(`take the least and the most, and nothing beyond: ${field} of type ${type}`, () => {
      for (const value of fits) {
        const [read] = readOne(catalogOf({ models: [{ ...model, [field]: value }] })).models;
        expect(read).to.have.property(field).that.deep.equals(value);
      }
      for (const value of not) {
        const said = mistake(catalogOf({ models: [{ ...model, [field]: value }] }));
        expect(said, JSON.stringify(value)).to.include(`models[0].${field}`);
      }
    });
  }

  it('take a cost of zero, and of a billion at most', () => {
    const costOf = (input: string) => {
      const routes = [{ upstream: 'one', model: 'm', cost: { currency: 'USD', input, output: '1' } }];
      return catalogOf({ models: [{ ...TEXT, routes }] });
    };
    for (const cost of ['0', '0.000001', '1000000000']) expect(() => readOne(costOf(cost)), cost).not.to.throw();
    for (const cost of ['-1', '0.0000001', '1000000000.000001']) {
      expect(mistake(costOf(cost)), cost).to.include('must be a decimal string of zero or more');
    }
  });
});
