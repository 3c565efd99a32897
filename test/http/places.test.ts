// How many connections the descriptors of a process allow, and for how long their upstreams' are kept.
import { expect } from 'chai';
import { createPeak, placesFor, readDescriptorLimit } from '../../lib/http/connections.ts';

describe('places for connections', () => {
  it('leave descriptors to the store and to whatever else opens files', () => {
    expect(placesFor(400)).to.equal(336);
    expect(placesFor(512)).to.equal(448);
    expect(placesFor(1024)).to.equal(896);
    expect(placesFor(50)).to.equal(32);
    expect(placesFor(1_048_576)).to.equal(20_000);
    expect(placesFor(Number.POSITIVE_INFINITY)).to.equal(20_000);
  });

  it('are kept by the greatest number of the last moments', () => {
    let now = 1000;
    const peak = createPeak(100, () => now);
    const later = (ms: number, count: number) => {
      now += ms;
      return peak(count);
    };
    expect([peak(3), later(50, 2), later(49, 1)]).to.deep.equal([3, 3, 3]);
    // It is from now on of the period before.
    expect([later(1, 1), later(99, 1)]).to.deep.equal([3, 3]);
    expect([later(1, 2), later(10, 1), later(90, 1)]).to.deep.equal([2, 2, 2]);
    // A period without a change.
    expect([later(199, 0), later(100, 0)]).to.deep.equal([1, 0]);
    expect([peak(7), later(200, 0)]).to.deep.equal([7, 0]);
  });

  it('come from the limit of this process', () => {
    expect(readDescriptorLimit()).to.be.within(64, Number.MAX_SAFE_INTEGER);
  });
});
