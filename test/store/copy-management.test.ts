// Copies of the keys and replies of the management API.
import { expect } from 'chai';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import { AT, rejection } from '../contract/store/context.ts';
import { newManagementKey } from '../contract/store/management.ts';
import { useCopies } from './copies.ts';

describe('copy of the management API', () => {
  let from: FaultyStore;
  let to: FaultyStore;

  const { copy } = useCopies((opened) => {
    ({ source: from, target: to } = opened);
  });

  it('has its keys and replies, also after an interruption', async () => {
    const { management } = from.real;
    await management.addKey(newManagementKey({ account: 'acc_a', expiresAt: AT + 1 }));
    const claim = { id: 'reply', body: 'b', lease: AT + 1, expiresAt: AT + 2 };
    await management.claimReply(claim, AT);
    to.next('management.putReplies', lose);
    expect(await rejection(copy())).to.have.property('message', 'lost by the test');
    expect(await copy()).to.include({ resumed: true });
    const copied = to.real.management;
    expect(await copied.listKeys()).to.deep.equal(await management.listKeys());
    expect(await copied.replyPage({ limit: 9 })).to.deep.equal([{ ...claim, reply: null }]);
  });
});
