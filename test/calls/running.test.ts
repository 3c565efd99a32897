import { expect } from 'chai';
import { createRunningCalls } from '../../lib/calls/running.ts';

describe('running calls', () => {
  it("sum up the overshoot of one wallet's calls", () => {
    const calls = createRunningCalls();
    expect(calls.overshoot('w')).to.equal(0n);
    let used = 2n;
    const removeA = calls.add('w', () => used);
    const removeB = calls.add('w', () => used);
    const removeOther = calls.add('v', () => 1n);
    expect([calls.overshoot('w'), calls.overshoot('v')]).to.deep.equal([4n, 1n]);
    used = 5n;
    expect(calls.overshoot('w')).to.equal(10n);
    removeA();
    removeA();
    expect([calls.overshoot('w'), calls.overshoot('v')]).to.deep.equal([5n, 1n]);
    removeB();
    removeOther();
    expect([calls.overshoot('w'), calls.overshoot('v')]).to.deep.equal([0n, 0n]);
  });
});
