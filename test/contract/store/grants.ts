// Money that was given: kept with its wallet, spent once by concurrent calls, and found when its time is over.
import { expect } from 'chai';
import { parseGrantBook, parseGrantParts } from '../../../lib/money/grants.ts';
import type { Store } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import {
  applied,
  endGrant,
  everythingOf,
  giveBack,
  grant,
  newAccount,
  newId,
  newWallet,
  problemsOf,
  RUB,
  reserve,
  type StoreContext,
  settle,
  statuses,
  walletOf,
} from './context.ts';

export function grantContract(context: StoreContext): void {
  const leftOf = async (wallet: string) =>
    parseGrantBook((await walletOf(context.store, wallet)).grants).map(({ left }) => Number(left) / 1e6);

  it('pay exactly once under many concurrent holds of two openers', async () => {
    const openers = [context.store, await context.other()];
    const wallet = await newWallet(context.store);
    await applied(context.store, grant(wallet, 7n * RUB, { until: 5000 }), grant(wallet, 8n * RUB));
    const calls = Array.from({ length: longer(16, 20) }, () => reserve(wallet, { amount: RUB }));
    const answers = (await Promise.all(calls.map((op, at) => applied(openers[at % 2] as Store, op)))).flat();
    const parts = answers.flatMap(({ charge }) => parseGrantParts(charge?.grants));
    expect(parts.reduce((sum, { amount }) => sum + amount, 0n)).to.equal(15n * RUB);
    expect(await leftOf(wallet)).to.deep.equal([0, 0]);
    for (const { charge } of answers) expect(await openers[1]?.ledger.charge(charge?.id ?? '')).to.deep.equal(charge);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('get back what calls give back, whichever process ends them, unless they are over', async () => {
    const { store } = context;
    const other = await context.other();
    const [wallet, id] = [await newWallet(store), newId('grant')];
    const calls = [newId('req'), newId('req'), newId('req'), newId('req')] as const;
    await applied(store, grant(wallet, 50n * RUB, { grantId: id, until: 5000 }));
    await applied(store, ...calls.map((chargeId) => reserve(wallet, { chargeId, amount: 10n * RUB })));
    await applied(other, settle(wallet, calls[0], { amount: 3n * RUB }), giveBack('release', wallet, calls[1]));
    expect(await leftOf(wallet)).to.deep.equal([27]);
    await applied(store, endGrant(wallet, id), settle(wallet, calls[2], { amount: 4n * RUB }));
    await applied(other, giveBack('expire', wallet, calls[3]), giveBack('refund', wallet, calls[0]));
    const { avail, held, charged, granted, grants } = await walletOf(other, wallet);
    expect({ avail, held, charged, granted, grants }).to.deep.equal({
      ...{ avail: 1000n * RUB, held: 0n, charged: 4n * RUB },
      ...{ granted: 4n * RUB, grants: undefined },
    });
    expect(await problemsOf(store, wallet)).to.deep.equal([]);
  });

  it('change nothing when they are refused or repeated', async () => {
    const { store } = context;
    const [wallet, other, id] = [await newAccount(store), await newAccount(store), newId('grant')];
    const first = grant(wallet, 5n * RUB, { grantId: id, until: 5000, opens: true });
    expect(await statuses(store, first, reserve(wallet), first)).to.deep.equal(['done', 'done', 'exists']);
    const before = await everythingOf(store, wallet);
    const changed = [{ ...first, amount: 6n * RUB }, { ...first, until: 6000 }, endGrant(wallet, newId('grant'))];
    expect(await statuses(store, first, ...changed)).to.deep.equal(['exists', 'id_taken', 'id_taken', 'no_grant']);
    expect(await statuses(store, { ...first, wallet: other }, reserve(other))).to.deep.equal([
      'id_taken',
      'never_topped',
    ]);
    expect(await everythingOf(store, wallet)).to.deep.equal(before);
  });

  it('are found when their time is over, wallet by wallet', async () => {
    const { store } = context;
    const [one, two, three] = [
      await newAccount(store),
      await newAccount(store),
      await newAccount(store),
    ].toSorted() as [string, string, string];
    const id = newId('grant');
    await applied(store, grant(one, RUB, { until: 2000 }), grant(one, RUB, { grantId: id, until: 1000 }));
    await applied(store, grant(two, RUB), grant(three, RUB, { until: 1500 }));
    const due = async (now: number) => {
      const found: string[] = [];
      for (let after = ''; ; ) {
        const page = await store.ledger.grantsDue({ now, after, limit: 1 });
        for (const wallet of page) expect(wallet).to.deep.equal(await walletOf(store, wallet.id));
        found.push(...page.map((wallet) => wallet.id).filter((wallet) => [one, two, three].includes(wallet)));
        const last = page.at(-1);
        if (!last) return found;
        after = last.id;
      }
    };
    expect(await due(999)).to.deep.equal([]);
    expect(await due(1000)).to.deep.equal([one]);
    expect(await due(1700)).to.deep.equal([one, three]);
    await applied(store, endGrant(one, id));
    expect(await due(1700)).to.deep.equal([three]);
    expect(await due(2000)).to.deep.equal([one, three]);
  });
}
