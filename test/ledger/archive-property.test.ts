// Any order of calls, payments, archives that fail at any step, and audits: the same balances as without archives.
import { expect } from 'chai';
import fc from 'fast-check';
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { readUsage } from '../../lib/ledger/usage-fold.ts';
import { openStore } from '../../lib/store/open.ts';
import { mapCalls } from '../../lib/store/port-calls.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import { longer } from '../../testkit/long.ts';
import { MONGODB, SQLITE_HERE } from '../../testkit/stores.ts';
import { applied, charge, giveBack, newId, RUB, reserve, settle, topup } from '../contract/store/context.ts';
import { ago, DAY, expectClean, makeFolder } from './archive-rig.ts';

type Move =
  | { readonly kind: 'call' | 'hold' | 'video' | 'topup' | 'audit'; readonly wallet: number; readonly days: number }
  | {
      readonly kind: 'end';
      readonly which: number;
      readonly how: 'settle' | 'release' | 'expire';
      readonly days: number;
    }
  | { readonly kind: 'refund'; readonly which: number; readonly days: number }
  | {
      readonly kind: 'archive';
      readonly age: number;
      readonly failAt: number;
      readonly late: boolean;
      readonly days: number;
    };

const days = fc.integer({ min: 0, max: 4 });
const wallet = fc.integer({ min: 0, max: 2 });
const which = fc.nat(20);
const moves = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom('call', 'hold', 'video', 'topup', 'audit'), wallet, days }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end'),
      which,
      how: fc.constantFrom('settle', 'release', 'expire'),
      days,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refund'), which, days }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('archive'), age: days, failAt: fc.nat(12), late: fc.boolean(), days }),
  },
) as fc.Arbitrary<Move>;

const RUNS = { [SQLITE_HERE.name]: longer(5, 50), [MONGODB.name]: 10 };

for (const kind of longer([SQLITE_HERE], [SQLITE_HERE, MONGODB])) {
  it(`${kind.name}: archives never change a balance, whatever happens between and during them`, async () => {
    const database = await kind.create();
    const store = await openStore(database.url, kind.opening);
    const folder = makeFolder();
    try {
      const property = fc.asyncProperty(fc.array(moves, { minLength: 10, maxLength: 50 }), (list) =>
        play(store, folder.path, list),
      );
      await fc.assert(property, { numRuns: RUNS[kind.name] ?? 1 });
    } finally {
      await store.close();
      await database.remove();
      folder.remove();
    }
  }).timeout(longer(60_000, 300_000));
}

interface Open {
  readonly wallet: string;
  readonly id: string;
}

async function play(store: Store, folder: string, list: readonly Move[]): Promise<void> {
  const wallets = [newId('acc'), newId('acc'), newId('acc')];
  let at = ago(390);
  for (const id of wallets) {
    await store.accounts.create({ id, name: 'w', createdAt: at });
    await applied(store, topup(id, 10_000n * RUB, { at }));
  }
  const budget = { period: at, limit: null };
  const [held, videos]: [Open[], Open[]] = [[], []];
  const start = (owner: string) => ({ chargeId: newId('req'), at, key: `key_of_${owner}`, budget });
  let unfinished: { before: number; file: string } | undefined;
  for (const move of list) {
    at += move.days * DAY;
    if (move.kind === 'archive') {
      const options = unfinished ?? { before: at - move.age * DAY, file: `${folder}/${newId('arc')}.gz` };
      const faulty = failing(store, move.failAt, move.late);
      unfinished = await archiveLedger(faulty, options).then(
        () => undefined,
        async (error) => {
          if (!(error instanceof StoreError)) throw error;
          const begun = (await store.archives.list()).find(({ state }) => state !== 'done');
          return begun && { before: begun.before, file: begun.file };
        },
      );
    } else if (move.kind === 'end') {
      const [open] = held.splice(move.which % (held.length || 1), 1);
      if (!open) continue;
      const of = [open.wallet, open.id, { at }] as const;
      await applied(store, move.how === 'settle' ? settle(...of) : giveBack(move.how, ...of));
    } else if (move.kind === 'refund') {
      const [video] = videos.splice(move.which % (videos.length || 1), 1);
      if (video) await applied(store, giveBack('refund', video.wallet, video.id, { at }));
    } else {
      const owner = wallets[move.wallet] as string;
      const call = start(owner);
      if (move.kind === 'topup') await applied(store, topup(owner, RUB, { at }));
      if (move.kind === 'call')
        await applied(store, reserve(owner, call), settle(owner, call.chargeId, { at, amount: 2n * RUB }));
      if (move.kind === 'hold') await applied(store, reserve(owner, call));
      if (move.kind === 'video') await applied(store, charge(owner, call));
      if (move.kind === 'hold') held.push({ wallet: owner, id: call.chargeId });
      if (move.kind === 'video') videos.push({ wallet: owner, id: call.chargeId });
      if (move.kind === 'audit') await expectClean(store);
    }
  }
  if (unfinished) await archiveLedger(store, unfinished);
  await expectClean(store);
  for (const id of wallets) {
    const { total } = await readUsage(store, id, { by: 'kind', filter: {} });
    expect(total.charged).to.equal((await store.ledger.wallet(id))?.charged);
    expect(await store.ledger.chargedAt(id, at)).to.equal(total.charged);
  }
}

/** The call to the archives store with this number fails, before or after its effect; 0: no call fails. */
function failing(store: Store, failAt: number, late: boolean): Store {
  let calls = 0;
  return mapCalls(store, (call, { port }) => async (...args) => {
    if (port !== 'archives') return call(...args);
    calls += 1;
    if (calls !== failAt) return call(...args);
    if (late) await call(...args);
    throw new StoreError('the store is gone', 'unknown');
  });
}
