// Pairs wallets with their checkpoints: each once, in database order, even if one of the two is missing.
import { expect } from 'chai';
import type { Wallet } from '../../lib/money/decide.ts';
import { pairWithCheckpoints } from '../../lib/store/checkpoints.ts';
import type { Checkpoint } from '../../lib/store/ports/checkpoints.ts';

describe('wallets and checkpoints', () => {
  it('are paired in byte order', () => {
    const [first, last, both] = [{ id: 'a' }, { id: '\uffff' }, { id: 'b' }] as Wallet[];
    // In the order of bytes, an emoji comes after U+FFFF.
    const [emoji, beside] = [{ wallet: '😀' }, { wallet: 'b' }] as Checkpoint[];
    expect(pairWithCheckpoints([last, both, first] as Wallet[], [emoji, beside] as Checkpoint[])).to.deep.equal([
      { id: 'a', wallet: first, checkpoint: undefined },
      { id: 'b', wallet: both, checkpoint: beside },
      { id: '\uffff', wallet: last, checkpoint: undefined },
      { id: '😀', wallet: undefined, checkpoint: emoji },
    ]);
  });
});
