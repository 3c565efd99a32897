// The keys and replies of the management API.
import { expect } from 'chai';
import type { Operation } from '../../../lib/money/decide.ts';
import { SERVICE_OWNER } from '../../../lib/money/operations.ts';
import type { ManagementKey } from '../../../lib/store/ports/management.ts';
import { AT, applied, newId, problemsOf, RUB, reserve, type StoreContext, settle, statuses, topup } from './context.ts';

export function newManagementKey(more: Partial<ManagementKey> = {}): ManagementKey {
  const id = newId('mk');
  return {
    id,
    name: 'billing',
    hash: newId('hash'),
    last4: 'abcd',
    scopes: ['accounts', 'catalog:read'],
    account: null,
    addresses: null,
    createdBy: 'usr_a',
    createdAt: AT,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...more,
  };
}

export function managementContract(context: StoreContext): void {
  const newClaim = (more: object = {}) => ({
    id: newId('reply'),
    body: 'b',
    lease: AT + 60,
    expiresAt: AT + 1000,
    ...more,
  });

  it('keeps keys, and finds them by hash, id and account', async () => {
    const { management } = context.store;
    const account = newId('acc');
    const plain = newManagementKey();
    const bound = newManagementKey({ account, addresses: ['10.0.0.0/8'], expiresAt: AT + 5, createdAt: AT + 1 });
    for (const key of [plain, bound]) await management.addKey(key);
    expect(await management.findKey(bound.hash)).to.deep.equal(bound);
    expect(await management.getKey(plain.id)).to.deep.equal(plain);
    expect(await management.findKey('no such hash')).to.equal(undefined);
    expect(await management.listKeys(account)).to.deep.equal([bound]);
    const all = (await management.listKeys()).map(({ id }) => id);
    expect(all.indexOf(plain.id)).to.be.within(0, all.indexOf(bound.id) - 1);
  });

  it('revokes a key once, and notes its last use', async () => {
    const { management } = context.store;
    const key = newManagementKey();
    await management.addKey(key);
    expect(await management.revokeKey(key.id, AT + 1)).to.equal('revoked');
    expect(await management.revokeKey(key.id, AT + 2)).to.equal('exists');
    expect(await management.revokeKey('mk_none', AT)).to.equal('no_key');
    for (const at of [AT + 9, AT + 3]) await management.useKey(key.id, at);
    expect(await management.getKey(key.id)).to.include({ revokedAt: AT + 1, lastUsedAt: AT + 9 });
    await management.putKeys([key]);
    expect(await management.getKey(key.id)).to.deep.equal(key);
  });

  it('gives a claim to one of several requests, and its reply to the others', async () => {
    const claim = newClaim();
    const stores = [context.store, await context.other()];
    const claims = await Promise.all([...stores, ...stores].map(({ management }) => management.claimReply(claim, AT)));
    expect(claims.filter(({ status }) => status === 'claimed')).to.have.length(1);
    expect(claims.filter(({ status }) => status === 'found')).to.have.length(3);
    const { management } = context.store;
    expect(await management.storeReply(claim, '{}')).to.equal(true);
    const again = await management.claimReply({ ...claim, lease: AT + 500 }, AT + 100);
    expect(again).to.deep.equal({ status: 'found', found: { ...claim, reply: '{}' } });
  });

  it('gives a claim again after its lease, to the same request only', async () => {
    const { management } = context.store;
    const claim = newClaim();
    await management.claimReply(claim, AT);
    const other = await management.claimReply({ ...claim, body: 'c', lease: AT + 200 }, AT + 100);
    expect(other).to.have.property('status', 'found');
    expect(await management.claimReply({ ...claim, lease: AT + 200 }, AT + 100)).to.deep.equal({ status: 'again' });
    expect(await management.storeReply(claim, 'late')).to.equal(false);
    expect(await management.storeReply({ ...claim, lease: AT + 200 }, 'now')).to.equal(true);
  });

  it('leaves the hold of a service until its lease is over, which can be renewed until then', async () => {
    const { ledger, accounts } = context.store;
    const wallet = newId('acc');
    await accounts.create({ id: wallet, name: 'n', createdAt: AT });
    await applied(context.store, topup(wallet, 1000n * RUB));
    const [id, leaseMs] = [newId('hold'), 1000];
    const owner = SERVICE_OWNER;
    const service = { chargeId: id, chargeKind: 'service', owner, lease: AT + 3_600_000 } as const;
    await applied(context.store, { ...reserve(wallet), ...service } as Operation);
    const orphans = async (now: number) =>
      (await ledger.orphans({ now, leaseMs, limit: 1000 })).map((charge) => charge.id).includes(id);
    expect(await orphans(AT + 3_599_999)).to.equal(false);
    expect(await orphans(AT + 3_600_001)).to.equal(true);
    const renewal = { charge: id, owner, lease: AT + 7_200_000, now: AT + 3_599_999 };
    expect(await ledger.renewLease({ ...renewal, owner: 'own_a' })).to.equal(false);
    expect(await ledger.renewLease({ ...renewal, now: AT + 3_600_000 })).to.equal(false);
    expect(await ledger.renewLease(renewal)).to.equal(true);
    expect(await orphans(AT + 3_600_001)).to.equal(false);
    expect(await problemsOf(context.store, wallet), 'the audit knows that leases are renewed').to.deep.equal([]);
    const end = { kind: 'expire', wallet, chargeId: id, at: AT + 7_200_001 } as const;
    await applied(context.store, end);
    expect(await ledger.renewLease(renewal)).to.equal(false);
    const late = { ...settle(wallet, id), onlyHeld: true } as Operation;
    expect(await statuses(context.store, late)).to.deep.equal(['exists']);
    expect(await ledger.wallet(wallet)).to.include({ avail: 1000n * RUB, held: 0n });
  });

  it('frees no claim of another request, and none that another has taken over', async () => {
    const { management } = context.store;
    const [freed, running, taken] = [newClaim(), newClaim(), newClaim()];
    for (const claim of [freed, running, taken]) await management.claimReply(claim, AT);
    expect(await management.claimReply({ ...taken, lease: AT + 200 }, AT + 100)).to.deep.equal({ status: 'again' });
    for (const claim of [freed, taken]) await management.dropReply(claim);
    const left = (await management.replyPage({ limit: 1000 })).map(({ id, lease }) => `${id} ${lease}`);
    expect(left)
      .to.include.members([`${running.id} ${running.lease}`, `${taken.id} ${AT + 200}`])
      .and.not.include(`${freed.id} ${freed.lease}`);
  });

  it('keeps a reply until the time it expires', async () => {
    const { management } = context.store;
    const claim = newClaim({ expiresAt: AT + 700 });
    await management.claimReply(claim, AT);
    const clean = async (now: number) => {
      while ((await management.clean(now, 100)) > 0);
      return (await management.replyPage({ limit: 1000 })).some(({ id }) => id === claim.id);
    };
    expect([await clean(AT + 699), await clean(AT + 700)]).to.deep.equal([true, false]);
  });

  it('frees a claim that changed nothing, and expired ones', async () => {
    const { management } = context.store;
    const [dropped, kept] = [newClaim(), newClaim()];
    for (const claim of [dropped, kept]) await management.claimReply(claim, AT);
    await management.storeReply(kept, 'r');
    for (const claim of [dropped, kept]) await management.dropReply(claim);
    expect(await management.claimReply({ ...dropped, body: 'c' }, AT)).to.deep.equal({ status: 'claimed' });
    expect(await management.claimReply(kept, AT)).to.have.property('status', 'found');
    const rows = await management.replyPage({ limit: 1000 });
    expect(rows).to.deep.include({ ...kept, reply: 'r' });
    expect(await management.claimReply({ ...kept, body: 'c', expiresAt: AT + 2000 }, AT + 1000)).to.have.property(
      'status',
      'claimed',
    );
    while ((await management.clean(AT + 1500, 100)) > 0);
    const left = (await management.replyPage({ limit: 1000 })).map(({ id }) => id);
    expect(left).to.include(kept.id).and.not.include(dropped.id);
    await management.putReplies(rows);
    expect(await management.replyPage({ limit: 1000 })).to.deep.include({ ...kept, reply: 'r' });
  });
}
