import { expect } from 'chai';
import { findNearestAspect, nearestAspect } from '../../../lib/upstream/host/aspects.ts';

const DRAWN = ['1:1', '3:2', '16:9', '9:16'];

describe('aspects', () => {
  it('are the nearest of those that are drawn, by the size or by the aspect that is wanted', () => {
    const rows = [
      [{ size: { width: 1000, height: 1000 } }, '1:1'],
      [{ size: { width: 1920, height: 1080 } }, '16:9'],
      [{ size: { width: 1080, height: 1920 } }, '9:16'],
      [{ aspect: '4:3' }, '3:2'],
      [{ aspect: '21:9' }, '16:9'],
      [{ aspect: '3:2', size: { width: 1, height: 1 } }, '3:2'],
    ] as const;
    for (const [asked, nearest] of rows)
      expect(findNearestAspect(asked, DRAWN), JSON.stringify(asked)).to.equal(nearest);
  });

  it('are none where none is wanted, or what is wanted is none', () => {
    for (const asked of [{}, { aspect: 'wide' }, { aspect: '0:1' }, { aspect: '-1:1' }]) {
      expect(findNearestAspect(asked, DRAWN), JSON.stringify(asked)).to.equal(undefined);
    }
    expect(findNearestAspect({ aspect: '1:1' }, [])).to.equal(undefined);
  });

  it('are the first of two that are equally near', () => {
    expect(nearestAspect(['16:9', '9:16'], 1)).to.equal('16:9');
    expect(nearestAspect(['9:16', '16:9'], 1)).to.equal('9:16');
  });
});
