import { expect } from 'chai';
import { computeConnectionsMax, readDescriptorLimit } from '../../lib/http/descriptors.ts';

describe('computeConnectionsMax', () => {
  it('reserves descriptors for upstreams, the store and other files', () => {
    expect(computeConnectionsMax(400)).to.equal(168);
    expect(computeConnectionsMax(1024)).to.equal(448);
    expect(computeConnectionsMax(50)).to.equal(32);
    expect(computeConnectionsMax(1_048_576)).to.equal(10_000);
    expect(computeConnectionsMax(Number.POSITIVE_INFINITY)).to.equal(10_000);
  });
});

describe('readDescriptorLimit', () => {
  it('reads the limit of this process', () => {
    expect(readDescriptorLimit()).to.be.within(64, Number.MAX_SAFE_INTEGER);
  });
});
