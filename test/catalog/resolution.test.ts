// Resolution labels: their shorter side, and the nearest label of a model.
import { expect } from 'chai';
import { findNearestResolution, parseShortSide, RESOLUTION_LABEL } from '../../lib/catalog/resolution.ts';

describe('resolution labels', () => {
  const sides = { '480p': 480, '720p': 720, '768p': 768, '1080p': 1080, '2k': 1440, '4k': 2160, '8k': 4320 };
  for (const [label, side] of Object.entries(sides)) {
    it(`${label} is ${side} pixels`, () => {
      expect(label).to.match(RESOLUTION_LABEL);
      expect(parseShortSide(label)).to.equal(side);
    });
  }

  it('accept no other texts', () => {
    for (const word of ['720', 'p', '2K', '10k', '0720p', '720p ', '72p', '12345p', 'hd', ''])
      expect(word).not.to.match(RESOLUTION_LABEL);
  });

  it('have a nearest one in any order, the smaller of two equally near ones', () => {
    expect(findNearestResolution(['4k', '720p', '480p'], 1080)).to.equal('720p');
    expect(findNearestResolution(['480p', '720p', '4k'], 1500)).to.equal('4k');
    expect(findNearestResolution(['2k', '720p'], 1080)).to.equal('720p');
    expect(findNearestResolution([], 1080)).to.equal(undefined);
  });
});
