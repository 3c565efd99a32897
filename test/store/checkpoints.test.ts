// Wallets beside their checkpoints: each once, in the order of the databases, whichever of the two is there.
import { expect } from 'chai';
import type { Wallet } from '../../lib/money/decide.ts';
import { pairWithCheckpoints } from '../../lib/store/checkpoints.ts';
import type { Checkpoint } from '../../lib/store/ports/checkpoints.ts';

describe('wallets and checkpoints', () => {
  it('are paired in byte order', () => {
    const [first, last, both] = [{ id: 'a' }, { id: '\uffff' }, { id: 'b' }] as Wallet[];
    // By bytes, an emoji comes behind U+FFFF.
    const [emoji, beside] = [{ wallet: '😀' }, { wallet: 'b' }] as Checkpoint[];
    expect(pairWithCheckpoints([last, both, first] as Wallet[], [emoji, beside] as Checkpoint[])).to.deep.equal([
      { id: 'a', wallet: first, checkpoint: undefined },
      { id: 'b', wallet: both, checkpoint: beside },
      { id: '\uffff', wallet: last, checkpoint: undefined },
      { id: '😀', wallet: undefined, checkpoint: emoji },
    ]);
  });
});
