import { expect } from 'chai';
import { freeBytes, freeOwnBytes } from '../../lib/base/free-bytes.ts';

describe('freeBytes', () => {
  it('detaches the memory from all references', () => {
    const bytes = Buffer.allocUnsafeSlow(1000);
    const part = bytes.subarray(10, 20);
    freeBytes(bytes);
    expect([bytes.length, part.length]).to.deep.equal([0, 0]);
  });
});

describe('freeOwnBytes', () => {
  it('leaves bytes alone that share their memory with others', () => {
    const whole = Buffer.allocUnsafeSlow(1000).fill('a');
    for (const part of [whole.subarray(1), whole.subarray(0, 999)]) freeOwnBytes(part);
    expect(whole.toString()).to.equal('a'.repeat(1000));
    freeOwnBytes(whole);
    expect(whole.length).to.equal(0);
  });
});
