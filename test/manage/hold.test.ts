// Holds for services that run elsewhere: who may pay for one, and what a repeat does.
import { expect } from 'chai';
import { holdActions } from '../../lib/manage/actions/hold.ts';
import type { Caller, Session } from '../../lib/manage/session.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { SERVICE_OWNER } from '../../lib/money/operations.ts';
import { SQLITE_HERE } from '../../testkit/stores.ts';
import {
  applied,
  newAccount,
  newId,
  newWallet,
  RUB,
  rejection,
  topup,
  useStore,
  walletOf,
} from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

const DAY_CAP = { limit: 5n * RUB, reset: 'day', zone: 'UTC' } as const;

describe('a hold for a service elsewhere', () => {
  const context = useStore(SQLITE_HERE);
  let wallet: string;
  beforeEach(async () => {
    wallet = await newWallet(context.store);
  });

  const openSession = (caller?: Partial<Caller>) =>
    ({ store: context.store, ...(caller && { caller: { id: 'mk_1', ...caller } }) }) as Session;
  const hold = (options: { key?: string; user?: string } = {}, caller?: Partial<Caller>) =>
    holdActions.create(openSession(caller), wallet, 10n * RUB, { reason: 'gpu', lease: 60, ...options });
  const refusal = async (...request: Parameters<typeof hold>) => ((await rejection(hold(...request))) as Error).message;

  async function addKey(createdBy?: string): Promise<string> {
    const key = { id: newId('key'), account: wallet, name: 'n', hash: newId('hash'), last4: 'Ab9z', createdAt: 1 };
    await context.store.keys.add(createdBy === undefined ? key : { ...key, createdBy }, 9);
    return key.id;
  }

  async function addMember(cap?: typeof DAY_CAP) {
    const user = makeUser();
    await context.store.users.add(user);
    await context.store.users.join({ user: user.id, account: wallet, role: 'member', ...(cap && { cap }) });
    return user;
  }

  it('is refused for a key that is revoked or expired', async () => {
    const [revoked, expired] = [await addKey(), await addKey()];
    await context.store.keys.revoke(revoked, Date.now());
    await context.store.keys.limit(expired, { ...NO_LIMITS, expiresAt: 1000 }, 0);
    for (const key of [revoked, expired]) {
      expect(await refusal({ key })).to.equal(`The key ${key} is revoked or expired.`);
    }
    expect(await walletOf(context.store, wallet)).to.include({ avail: 1000n * RUB, held: 0n });
  });

  it('is refused for a key whose owner is suspended', async () => {
    const user = await addMember();
    const key = await addKey(user.id);
    expect((await hold({ key })).json).to.include({ key_id: key, account_id: wallet, reason: 'gpu' });
    await context.store.users.suspend(user, Date.now());
    expect(await refusal({ key })).to.equal(`The user who owns the key ${key} is suspended.`);
    expect(await walletOf(context.store, wallet)).to.include({ held: 10n * RUB });
  });

  it('counts in the cap of the member who owns the key', async () => {
    const { id } = await addMember(DAY_CAP);
    expect(await refusal({ key: await addKey(id) })).to.contain('cap');
    expect(await walletOf(context.store, wallet)).to.include({ held: 0n });
  });

  it('is made once by the repeats of one request, which say so', async () => {
    const caller = { operation: newId('op') };
    const first = await hold({}, caller);
    expect(first.text).to.match(/^Held 10\.00 RUB\.\n/);
    const again = await hold({}, caller);
    expect(again.text).to.match(/^It had been held before; nothing changed\.\n/);
    expect(again.json).to.deep.equal({ ...first.json, repeated: true });
    const other = holdActions.create(openSession({ id: 'mk_1', ...caller }), wallet, RUB, { reason: 'gpu', lease: 60 });
    expect(((await rejection(other)) as Error).message).to.equal('The id of this hold was used for another one.');
    expect(await walletOf(context.store, wallet)).to.include({ held: 10n * RUB });
  });

  it('says how it ended when it can no longer be changed', async () => {
    const [session, operation] = [openSession(), newId('op')];
    await hold({}, { operation });
    const id = `hold_${operation}`;
    expect((await holdActions.settle(session, id, 4n * RUB, {})).text).to.match(/^Charged 4\.00 RUB\.\n/);
    const repeat = await holdActions.settle(session, id, 4n * RUB, {});
    expect(repeat.text).to.match(/^It had been settled before; nothing changed\.\n/);
    const released = (await rejection(holdActions.release(session, id))) as Error;
    expect(released.message).to.equal(`The hold ${id} is settled with 4.00 RUB: it cannot be changed any more.`);
    const renewed = (await rejection(holdActions.renew(session, id, { lease: 60 }))) as Error;
    expect(renewed.message).to.equal(`The hold ${id} is settled with 4.00 RUB: its lease cannot be renewed.`);
  });

  it('charges nothing once it has gone back', async () => {
    const [session, operation] = [openSession(), newId('op')];
    await hold({}, { operation });
    const id = `hold_${operation}`;
    await applied(context.store, { kind: 'expire', wallet, chargeId: id, at: Date.now() });
    const late = (await rejection(holdActions.settle(session, id, 4n * RUB, {}))) as Error;
    expect(late.message).to.equal(`The hold ${id} is expired: it cannot be changed any more.`);
    expect(await walletOf(context.store, wallet)).to.include({ avail: 1000n * RUB, held: 0n });
  });

  it('cannot be renewed after its lease, although nobody has given it back yet', async () => {
    const { hold_id: id } = (await hold({}, { operation: newId('op') })).json as { hold_id: string };
    await context.store.ledger.renewLease({ charge: id, owner: SERVICE_OWNER, lease: 1, now: 0 });
    const late = (await rejection(holdActions.renew(openSession(), id, { lease: 60 }))) as Error;
    expect(late.message).to.equal(`The hold ${id} is held, but its lease is over: its lease cannot be renewed.`);
  });

  it('takes play money from gateways whose models cost nothing, and not from the command line', async () => {
    wallet = await newAccount(context.store);
    await applied(context.store, { ...topup(wallet, 1000n * RUB), isPlay: true } as Operation);
    expect((await hold({}, { isReal: false })).json).to.include({ state: 'held' });
    for (const caller of [{ isReal: true }, undefined]) expect(await refusal({}, caller)).to.contain('test payments');
    expect(await walletOf(context.store, wallet)).to.include({ held: 10n * RUB });
  });
});
