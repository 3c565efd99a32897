import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { createMemoryQuota, type MemoryQuota, SMALL_BYTES } from '../../lib/http/memory-quota.ts';

const MIB = 1024 * 1024;

describe('memory quota', () => {
  let budget: MemoryQuota;

  beforeEach(() => {
    budget = createMemoryQuota({ bytesMax: 8 * MIB, ownerBytesMax: 4 * MIB });
  });

  const refuses = (take: () => void) => {
    const before = budget.used();
    let thrown: unknown;
    try {
      take();
    } catch (error) {
      thrown = error;
    }
    expect(isFault(thrown) && thrown.data?.code).to.equal('no_room');
    expect(isFault(thrown) && thrown.output.statusCode).to.equal(503);
    expect(budget.used()).to.equal(before);
  };

  it('counts what reservations take and release', () => {
    const one = budget.reserve('a');
    const other = budget.reserve('b');
    one.take(MIB);
    one.take(2 * MIB);
    other.take(MIB);
    expect(budget.used()).to.equal(4 * MIB);
    one.releaseAll();
    expect(budget.used()).to.equal(MIB);
    one.releaseAll();
    expect(budget.used()).to.equal(MIB);
    one.take(1);
    expect(budget.used()).to.equal(MIB + 1);
  });

  it('limits one owner, in any number of reservations', () => {
    const one = budget.reserve('a');
    const more = budget.reserve('a');
    one.take(3 * MIB);
    refuses(() => more.take(MIB + 1));
    more.take(MIB);
    refuses(() => one.take(1));
    budget.reserve('b').take(MIB);
    one.releaseAll();
    more.take(3 * MIB);
  });

  it('forgets no byte of an owner', () => {
    const one = budget.reserve('a');
    one.take(1);
    const part = one.takePart(MIB);
    part?.();
    refuses(() => budget.reserve('a').take(4 * MIB));
    one.releaseAll();
    budget.reserve('a').take(4 * MIB);
  });

  it('checks whether a body could wait for room, without taking it', () => {
    const share = budget.reserve('a');
    share.check(4 * MIB);
    expect(budget.used()).to.equal(0);
    refuses(() => share.check(4 * MIB + 1));
    share.take(3 * MIB);
    share.check(4 * MIB);
    expect(budget.used()).to.equal(3 * MIB);
    // One of a key may not have more than all keys together.
    const generous = createMemoryQuota({ bytesMax: 8 * MIB, ownerBytesMax: 16 * MIB }).reserve('a');
    generous.check(7 * MIB);
    refuses(() => generous.check(7 * MIB + 1));
  });

  it('keeps an eighth for small reservations', () => {
    budget.reserve('a').take(4 * MIB);
    const large = budget.reserve('b');
    large.take(3 * MIB);
    refuses(() => large.take(1));
    refuses(() => budget.reserve('c').take(SMALL_BYTES + 1));
    const small = budget.reserve('c');
    small.take(SMALL_BYTES);
    refuses(() => small.take(1));
  });

  it('releases a part once, also with everything else', () => {
    const share = budget.reserve('a');
    share.take(MIB);
    const part = share.takePart(2 * MIB);
    expect(share.takePart(MIB + 1)).to.equal(undefined);
    expect(budget.used()).to.equal(3 * MIB);
    part?.();
    part?.();
    expect(budget.used()).to.equal(MIB);
    const late = share.takePart(MIB);
    share.releaseAll();
    share.take(MIB);
    late?.();
    expect(budget.used()).to.equal(MIB);
  });

  it('is eventually full for small reservations, too', () => {
    budget.reserve('a').take(4 * MIB);
    budget.reserve('b').take(3 * MIB);
    for (let at = 0; at < MIB / SMALL_BYTES; at += 1) budget.reserve(`c${at}`).take(SMALL_BYTES);
    refuses(() => budget.reserve('d').take(1));
  });
});
