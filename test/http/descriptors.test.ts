import { expect } from 'chai';
import { connectionsFor, readDescriptorLimit } from '../../lib/http/descriptors.ts';

describe('connectionsFor', () => {
  it('reserves descriptors for upstreams, the store and other files', () => {
    expect(connectionsFor(400)).to.equal(168);
    expect(connectionsFor(1024)).to.equal(448);
    expect(connectionsFor(50)).to.equal(32);
    expect(connectionsFor(1_048_576)).to.equal(10_000);
    expect(connectionsFor(Number.POSITIVE_INFINITY)).to.equal(10_000);
  });
});

describe('readDescriptorLimit', () => {
  it('reads the limit of this process', () => {
    expect(readDescriptorLimit()).to.be.within(64, Number.MAX_SAFE_INTEGER);
  });
});
