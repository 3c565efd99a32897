import { expect } from 'chai';
import { freeBytes } from '../../lib/base/free-bytes.ts';

describe('freeBytes', () => {
  it('detaches the memory from all references', () => {
    const bytes = Buffer.allocUnsafeSlow(1000);
    const part = bytes.subarray(10, 20);
    freeBytes(bytes);
    expect([bytes.length, part.length]).to.deep.equal([0, 0]);
  });
});
