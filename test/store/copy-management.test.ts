// Copies of the keys and replies of the management API, and of refused requests.
import { expect } from 'chai';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import { AT, rejection } from '../contract/store/context.ts';
import { newManagementKey } from '../contract/store/management.ts';
import { useCopies } from './copies.ts';

describe('copy of refused requests', () => {
  let from: FaultyStore;
  let to: FaultyStore;

  const { copy } = useCopies((opened) => {
    ({ source: from, target: to } = opened);
  });

  it('has all of them once, also after an interruption', async () => {
    const hour = Date.UTC(2026, 10, 26, 9);
    const refusal = { key: 'key_a', hour, count: 2, lastAt: hour + 5, status: 400, message: 'No.' };
    const rows = Array.from({ length: 1001 }, (_, at) => ({ ...refusal, account: `acc_${at % 3}`, code: `c${at}` }));
    for (let at = 0; at < rows.length; at += 500) await from.real.refusals.add(rows.slice(at, at + 500));
    to.next('refusals.put', lose);
    expect(await rejection(copy())).to.have.property('message', 'lost by the test');
    await copy();
    for (const account of ['acc_0', 'acc_1', 'acc_2']) {
      const read = ({ real }: FaultyStore) => real.refusals.list(account, { limit: 1000 });
      const copied = await read(to);
      expect(copied).to.have.length.above(300);
      expect(copied).to.have.deep.members([...(await read(from))]);
    }
  });
});

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
