// Limits concurrent tasks and starts the others in order, after successes and failures.
import { expect } from 'chai';
import { limitConcurrency } from '../../lib/base/limit-concurrency.ts';

describe('limitConcurrency', () => {
  it('runs at most the given number at once and the others in order', async () => {
    const gate = limitConcurrency(2);
    const begun: number[] = [];
    const ends: ((fails?: boolean) => void)[] = [];
    const runs = [0, 1, 2, 3].map((at) =>
      gate(() => {
        begun.push(at);
        return new Promise<number>((resolve, reject) => {
          ends[at] = (fails) => (fails ? reject(new Error('no')) : resolve(at));
        });
      }).catch((error: Error) => error.message),
    );
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(begun).to.deep.equal([0, 1]);
    ends[1]?.(true);
    await turn();
    expect(begun).to.deep.equal([0, 1, 2]);
    // The place was handed on: there is none for one that comes now.
    const late = gate(async () => begun.push(4));
    await turn();
    expect(begun).to.deep.equal([0, 1, 2]);
    ends[0]?.();
    await turn();
    expect(begun).to.deep.equal([0, 1, 2, 3]);
    ends[2]?.();
    ends[3]?.();
    expect(await late).to.equal(5);
    expect(await Promise.all(runs)).to.deep.equal([0, 'no', 2, 3]);
    expect(await gate(async () => 'again')).to.equal('again');
  });
});
