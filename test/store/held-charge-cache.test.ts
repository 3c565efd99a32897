// The cache of held charges is only used while no other process has written the wallet.
import { expect } from 'chai';
import type { Charge } from '../../lib/money/decide.ts';
import { createHeldChargeCache } from '../../lib/store/held-charge-cache.ts';
import type { Store } from '../../lib/store/store.ts';
import { STORES } from '../../testkit/stores.ts';
import { giveBack, newId, newWallet, reserve, settle, statuses, useStore } from '../contract/store/context.ts';

const chargeOf = (id: string, state: Charge['state']) => ({ id, state }) as Charge;

describe('the cache of held charges', () => {
  it('keeps held charges, at the last sequence number of their wallet', () => {
    const known = createHeldChargeCache()('w');
    known.remember({ seqBefore: 3, seqAfter: 5, changed: [chargeOf('a', 'held'), chargeOf('b', 'settled')] });
    expect([known.get('a')?.id, known.get('b')]).to.deep.equal(['a', undefined]);
    expect(known.at(5, 'a')?.state).to.equal('held');
    expect(known.at(6, 'a')).to.equal(undefined);
    known.remember({ seqBefore: 5, seqAfter: 6, changed: [chargeOf('c', 'held')] });
    expect([known.at(6, 'a')?.id, known.at(6, 'c')?.id]).to.deep.equal(['a', 'c']);
    known.remember({ seqBefore: 6, seqAfter: 7, changed: [chargeOf('a', 'released')] });
    expect([known.get('a'), known.get('c')?.id]).to.deep.equal([undefined, 'c']);
  });

  it('drops charges if another process wrote the wallet between two batches', () => {
    const known = createHeldChargeCache()('w');
    known.remember({ seqBefore: 0, seqAfter: 1, changed: [chargeOf('a', 'held')] });
    known.remember({ seqBefore: 2, seqAfter: 3, changed: [chargeOf('b', 'held')] });
    expect([known.get('a'), known.at(3, 'b')?.id]).to.deep.equal([undefined, 'b']);
  });

  it('drops charges if there are too many', () => {
    const known = createHeldChargeCache()('w');
    const held = Array.from({ length: 10_001 }, (_, at) => chargeOf(`c${at}`, 'held'));
    known.remember({ seqBefore: 0, seqAfter: 1, changed: held });
    known.remember({ seqBefore: 1, seqAfter: 2, changed: [chargeOf('a', 'held')] });
    expect([known.get('c0'), known.get('c10000'), known.at(2, 'a')?.id]).to.deep.equal([undefined, undefined, 'a']);
  });

  it('keeps the charges of the wallets written last', () => {
    const knownOf = createHeldChargeCache();
    const write = (wallet: string) =>
      knownOf(wallet).remember({ seqBefore: 0, seqAfter: 1, changed: [chargeOf(`of-${wallet}`, 'held')] });
    for (const wallet of ['first', 'second']) write(wallet);
    for (let at = 0; at < 998; at += 1) write(`${at}`);
    expect(knownOf('first').get('of-first')?.id).to.equal('of-first');
    write('last');
    expect(knownOf('first').get('of-first')?.id).to.equal('of-first');
    expect(knownOf('second').get('of-second')).to.equal(undefined);
  });

  for (const kind of STORES) {
    describe(`beside another process on ${kind.name}`, () => {
      const context = useStore(kind);

      for (const [name, other] of Object.entries({
        'ended the charge': (wallet: string, chargeId: string) => giveBack('expire', wallet, chargeId),
        'only wrote the wallet': (wallet: string) => reserve(wallet),
      })) {
        it(`are read again when it ${name}`, async () => {
          const [mine, theirs] = [context.store, await context.open()] as [Store, Store];
          const wallet = await newWallet(mine);
          const first = newId('req');
          const second = newId('req');
          const holds = [first, second].map((chargeId) => reserve(wallet, { chargeId }));
          expect(await statuses(mine, ...holds)).to.deep.equal(['done', 'done']);
          expect(await statuses(theirs, other(wallet, first))).to.deep.equal(['done']);
          const ends = [giveBack('release', wallet, first), settle(wallet, second)];
          const released = name === 'ended the charge' ? 'exists' : 'done';
          expect(await statuses(mine, ...ends)).to.deep.equal([released, 'done']);
        });
      }
    });
  }
});
