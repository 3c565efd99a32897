// The fair queue limits concurrent tasks; sources take turns, and a busy source does not starve others.
import { expect } from 'chai';
import { createFairQueue } from '../../lib/base/fair-queue.ts';

describe('a fair queue', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** Those in capitals are known. */
  const sourceOf = (name: string) => ({ name: name.split(' ')[0] ?? '', isKnown: /^[A-Z]/.test(name) });

  /** Notes what it lets in, each as `source number`, and ends the first of them with `end`. */
  function open(limits: { atOnce?: number; waitingMax?: number; sourceMax?: number } = {}) {
    const gate = createFairQueue({
      atOnce: 1,
      waitingMax: 100,
      sourceMax: 100,
      ...limits,
      onFull: () => new Error('full'),
    });
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const enter = (name: string) =>
      gate(sourceOf(name), () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.push(() => resolve(name)));
      }).catch((error: Error) => error.message);
    const end = async () => {
      ends.shift()?.();
      await turn();
    };
    return { gate, begun, enter, end };
  }

  it('lets sources take turns, however many tasks one of them has queued', async () => {
    const { begun, enter, end } = open();
    const names = ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'b 2', 'c 1'];
    const runs = names.map(enter);
    for (const _ of names) await end();
    expect(await Promise.all(runs)).to.deep.equal(names);
    expect(begun).to.deep.equal(['a 1', 'a 2', 'b 1', 'c 1', 'a 3', 'b 2', 'a 4']);
  });

  it('refuses tasks above the limit of a source, and no others', async () => {
    const { enter, end } = open({ sourceMax: 2 });
    const runs = ['a 1', 'a 2', 'a 3', 'a 4', 'b 1'].map(enter);
    for (let time = 0; time < 4; time += 1) await end();
    expect(await Promise.all(runs)).to.deep.equal(['a 1', 'a 2', 'a 3', 'full', 'b 1']);
  });

  it('drops the newest task of the source with most tasks for a source with fewer when full', async () => {
    const { enter, end } = open({ waitingMax: 3 });
    const runs = ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'a 5', 'c 1', 'd 1'].map(enter);
    for (let time = 0; time < 4; time += 1) await end();
    // The last finds three sources with one each.
    expect(await Promise.all(runs)).to.deep.equal(['a 1', 'a 2', 'full', 'full', 'b 1', 'full', 'c 1', 'full']);
  });

  it('alternates between the lines of known and unknown sources', async () => {
    const { begun, enter, end } = open();
    const names = ['a 1', 'b 1', 'c 1', 'd 1', 'A 1', 'A 2', 'B 1', 'e 1'];
    const runs = names.map(enter);
    for (const _ of names) await end();
    expect(await Promise.all(runs)).to.deep.equal(names);
    expect(begun).to.deep.equal(['a 1', 'A 1', 'b 1', 'B 1', 'c 1', 'A 2', 'd 1', 'e 1']);
  });

  it('accepts a source if only the other line is full', async () => {
    for (const [others, one] of [
      ['abcd', 'A 1'],
      ['ABCD', 'a 1'],
    ] as const) {
      const { enter, end } = open({ waitingMax: 3 });
      const runs = [...[...others].map((name) => `${name} 1`), one].map(enter);
      for (const _ of runs) await end();
      expect(await Promise.all(runs)).not.to.include('full');
    }
  });

  it('passes its places on after successes and failures, and is empty afterwards', async () => {
    const { gate, enter, end, begun } = open({ atOnce: 2, waitingMax: 1 });
    const failing = gate(sourceOf('a'), () => Promise.reject(new Error('no'))).catch((error: Error) => error.message);
    const first = enter('b 1');
    const second = enter('b 2');
    expect(await failing).to.equal('no');
    await turn();
    expect(begun).to.deep.equal(['b 1', 'b 2']);
    await end();
    await end();
    expect(await Promise.all([first, second])).to.deep.equal(['b 1', 'b 2']);
    const again = [enter('c 1'), enter('c 2'), enter('c 3')];
    await turn();
    expect(begun.slice(2)).to.deep.equal(['c 1', 'c 2']);
    for (const _ of again) await end();
    await Promise.all(again);
  });
});
