// Prices of audio, of cached tokens and of long prompts, as catalog files have them.
import { expect } from 'chai';
import { listCatalogFiles, readCatalogFiles } from '../../lib/catalog/files.ts';
import { type CatalogFolder, catalogOf, makeFolder, mistakeOf, TEXT } from './folder.ts';

describe('catalog prices of cached tokens and bands', () => {
  let folder: CatalogFolder;
  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(() => folder.remove());

  const readOne = (content: unknown) => {
    folder.write(content);
    return readCatalogFiles(listCatalogFiles(folder.catalog), ['*']);
  };
  const mistake = (content: unknown) => mistakeOf(() => readOne(content));

  const rates = { input: '2', output: '10' };
  const cached = { ...rates, cacheRead: '0.2', cacheWrite: '2.5', cacheWrite1h: '4' };
  const text = (price: object) => catalogOf({ models: [{ ...TEXT, price: { ...rates, ...price } }] });

  for (const [name, price] of [
    ['a cache price alone', { cacheRead: '0.2' }],
    ['a price of audio alone', { audio: '6' }],
    ['all cache prices', cached],
    ['a band', { bands: [{ above: 200_000, input: '4', output: '15' }] }],
    [
      'several bands',
      {
        bands: [
          { above: 1, ...rates },
          { above: 2, ...cached },
        ],
      },
    ],
  ] as const) {
    it(`are accepted: ${name}`, () => {
      const [model] = readOne(text(price)).models;
      expect(model?.price).to.deep.equal({ ...rates, ...price });
    });
  }

  for (const name of ['audio', 'cacheRead', 'cacheWrite', 'cacheWrite1h']) {
    for (const bad of ['0', '-1', '0.0000001', 'free', 1, null, '']) {
      it(`are refused: ${name}: ${JSON.stringify(bad)}, also in a band`, () => {
        expect(mistake(text({ [name]: bad }))).to.match(new RegExp(`models\\[0\\]\\.price\\.${name} `));
        expect(mistake(text({ bands: [{ above: 1, ...rates, [name]: bad }] }))).to.match(
          new RegExp(`models\\[0\\]\\.price\\.bands\\[0\\]\\.${name} `),
        );
      });
    }
  }

  const at = (above: unknown) => ({ above, ...rates });
  const refused: readonly [name: string, bands: unknown, says: RegExp][] = [
    ['no list', { above: 1, ...rates }, /price\.bands must be an array/],
    ['an empty list', [], /price\.bands must contain at least 1/],
    ['a band without a limit', [rates], /price\.bands\[0\]\.above is required/],
    ['a band without an input price', [{ above: 1, output: '1' }], /price\.bands\[0\]\.input is required/],
    ['a band without an output price', [{ above: 1, input: '1' }], /price\.bands\[0\]\.output is required/],
    ['a band above zero', [at(0)], /price\.bands\[0\]\.above/],
    ['a band above a negative number', [at(-1)], /price\.bands\[0\]\.above/],
    ['a band above a fraction', [at(1.5)], /price\.bands\[0\]\.above/],
    ['a band above a text', [at('200000')], /price\.bands\[0\]\.above/],
    ['a band above an unsafe number', [at(2 ** 53)], /price\.bands\[0\]\.above/],
    ['bands within a band', [{ ...at(1), bands: [at(2)] }], /price\.bands\[0\]\.bands is not allowed/],
    ['descending bands', [at(2), at(1)], /price\.bands must be in ascending order of "above", without repeats/],
    ['a band twice', [at(2), at(2)], /price\.bands must be in ascending order of "above", without repeats/],
    ['an unknown price', [{ ...at(1), cached: '1' }], /price\.bands\[0\]\.cached is not allowed/],
  ];
  for (const [name, bands, says] of refused)
    it(`are refused: ${name}`, () => expect(mistake(text({ bands }))).to.match(says));
});
