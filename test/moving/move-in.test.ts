// Accounts of another gateway in a store: balances to the micro-rouble, keys with their limits, once, however often.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { hashKey } from '../../lib/accounts/key.ts';
import { createMovedKeys } from '../../lib/accounts/moved-keys.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { AMOUNT_MAX } from '../../lib/money/money.ts';
import { type MovedAccount, type MoveOptions, moveAccounts } from '../../lib/moving/move-in.ts';
import { readSource } from '../../lib/moving/read-source.ts';
import type { Source, SourceKey, SourceUser } from '../../lib/moving/source.ts';
import { openStore } from '../../lib/store/open.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { NEW_API, OLD_KEYS } from './new-api.ts';

const NOW = Date.parse('2026-11-27T00:00:00Z');
const RATE = 81_400_000n;
/** A unit of quota is a micro-rouble. */
const SAME = { rate: 1n, perDollar: { units: 1n, scale: 0 } };
const NO_TOPUP = { enabled: false, amount: 0n, threshold: 0n };
const OPTIONS: MoveOptions = { installation: 'new-api', isDry: false, lists: new Map([['vip', 'vip']]), now: NOW };

async function readStore(): Promise<Source> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-moving-'));
  const db = new DatabaseSync(join(folder, 'a.db'));
  db.exec(NEW_API);
  db.close();
  const source = await readSource(join(folder, 'a.db'), { program: 'new-api', rate: RATE });
  rmSync(folder, { recursive: true });
  return source;
}

for (const kind of longer([SQLITE], STORES)) {
  describe(`moving in: ${kind.name}`, () => {
    let database: StoreDatabase;
    let store: Store;
    let source: Source;

    before(async () => {
      database = await kind.create();
      store = await openStore(database.url, { inProcess: true });
      source = await readStore();
    });
    after(async () => {
      await store.close();
      await database.remove();
    });

    const move = (from: Source = source, more: Partial<MoveOptions> = {}) =>
      Array.fromAsync(moveAccounts(store, from, { ...OPTIONS, ...more }));

    /** The user and key of the source with changes, as if they were others. */
    function other(id: string, user: Partial<SourceUser>, key: Partial<SourceKey> = {}): Source {
      const secret = `${id}-${'x'.repeat(45)}`;
      return {
        ...source,
        users: [{ ...(source.users[0] as SourceUser), ...user, id }],
        keys: [{ ...(source.keys[0] as SourceKey), ...key, id, user: id, secret }],
      };
    }

    const [ann] = [0].map((index) => (all: readonly MovedAccount[]) => all[index] as MovedAccount);

    it('reports what would move without writing', async () => {
      const all = await move(source, { isDry: true });
      expect(all.map(({ before, after, state }) => [before, after, state])).to.deep.equal([
        [97_680_000n, 97_680_000n, 'planned'],
        [488n, 488n, 'planned'],
      ]);
      expect(await store.accounts.list()).to.deep.equal([]);
      const without = await Array.fromAsync(moveAccounts(undefined, source, { ...OPTIONS, isDry: true }));
      expect(without).to.deep.equal(all);
    });

    it('brings balances, keys and price lists, and suspends whom it must', async () => {
      const all = await move();
      expect(all.map(({ after, state, priceList }) => [after, state, priceList])).to.deep.equal([
        [97_680_000n, 'moved', 'vip'],
        [488n, 'moved', undefined],
      ]);
      const account = await store.accounts.get(ann?.(all).id ?? '');
      expect(account).to.deep.include({
        name: 'Ann',
        status: 'active',
        priceList: 'vip',
        createdAt: 1_700_000_000_000,
      });
      expect(await store.ledger.wallet(account?.id ?? '')).to.deep.include({
        avail: 97_680_000n,
        topped: 0n,
        opened: true,
      });
      expect((await store.accounts.get(all[1]?.id ?? ''))?.status).to.equal('suspended');
      const found = await store.keys.find(hashKey(`sk-${OLD_KEYS[1]}`));
      expect(found).to.deep.include({
        createdAt: 1_700_000_000_000,
        name: 'second',
        account: account?.id,
        last4: 'T1rP9'.slice(1),
        revokedAt: null,
      });
      expect(found?.limits).to.deep.include({
        ...{ budget: 40_700_000n, reset: 'none', models: ['gpt-4o', 'deepseek-chat'] },
        requests: { addresses: ['10.0.0.0/8', '1.2.3.4'] },
      });
      expect((await verifyLedger(store)).ok).to.equal(true);
    });

    it('changes nothing when it is repeated', async () => {
      const before = await Promise.all([store.accounts.list(), verifyLedger(store), store.settings.list()]);
      const all = await move();
      expect(all.flatMap(({ state, keys }) => [state, ...keys.map((key) => key.state)])).to.deep.equal([
        ...['there', 'there', 'there', 'there'],
      ]);
      expect(await Promise.all([store.accounts.list(), verifyLedger(store), store.settings.list()])).to.deep.equal(
        before,
      );
    });

    it('keeps what moved in if the store says something else later', async () => {
      const [first] = source.users as [SourceUser];
      const changed = { ...source, users: [{ ...first, quota: first.quota + 1n }] };
      const [account] = await move(changed);
      expect(account).to.include({ state: 'refused', after: 97_680_000n });
      expect(account?.keys).to.deep.equal([]);
      expect(account?.notes.join()).to.include('97.68 RUB moved in before, and the store says 97.680163 RUB now');
    });

    it('tells installations apart', async () => {
      const [account] = await move({ ...source, keys: [] }, { installation: 'second' });
      expect(account).to.include({ state: 'moved', after: 97_680_000n });
      const [twice] = await move(source, { installation: 'third' });
      expect(twice?.keys.map(({ state, notes }) => [state, /has the same text/.test(notes.join())])).to.deep.equal([
        ['left out', true],
        ['left out', true],
      ]);
    });

    it('brings debts, and opens only wallets that had money', async () => {
      const [debtor] = await move(other('21', { quota: -1n }));
      expect(await store.ledger.wallet(debtor?.id ?? '')).to.deep.include({ avail: -163n, opened: true });
      const [spent] = await move(other('22', { quota: 0n, used: 7n }));
      expect(await store.ledger.wallet(spent?.id ?? '')).to.deep.include({ avail: 0n, opened: true, seq: 1 });
      const [fresh] = await move(other('23', { quota: 0n, used: 0n }));
      expect(await store.ledger.wallet(fresh?.id ?? '')).to.not.have.property('opened');
      const [rich] = await move(other('24', { quota: 500_000_000_000_000n }));
      expect(rich).to.include({ state: 'refused', after: null });
      expect(await store.accounts.get(rich?.id ?? '')).to.equal(undefined);
      expect((await verifyLedger(store)).ok).to.equal(true);
    });

    for (const [name, key, wanted] of [
      ['31 disabled', { isActive: false }, { revoked: true }],
      ['32 expired', { expiresAt: NOW - 1 }, { expiresAt: NOW - 1 }],
      ['33 exhausted', { budget: 0n }, { budget: 1n }],
      ['34 everywhere', { addresses: ['0.0.0.0/0', '1.2.3.4'] }, {}],
      ['35 half valid', { addresses: ['nowhere', '1.2.3.4'] }, { addresses: ['1.2.3.4'], notes: 1 }],
      ['36 nowhere', { addresses: ['nowhere'] }, { revoked: true, notes: 2 }],
      ['37 no model', { models: ['smart'] }, { revoked: true, notes: 2 }],
      ['38 open to IPv6', { addresses: ['::/0', '1.2.3.4'] }, { addresses: ['1.2.3.4'], notes: 1 }],
    ] as const) {
      it(`brings a key that is ${name.slice(3)}`, async () => {
        const id = name.slice(0, 2);
        const [account] = await move(other(id, {}, key as Partial<SourceKey>));
        const row = await store.keys.get(account?.keys[0]?.id ?? '');
        const { limits, revokedAt } = row ?? {};
        expect(revokedAt !== null).to.equal('revoked' in wanted);
        if ('expiresAt' in wanted) expect(limits?.expiresAt).to.equal(wanted.expiresAt);
        else if (revokedAt !== null) expect(limits?.expiresAt).to.be.below(NOW);
        expect(limits?.budget).to.equal('budget' in wanted ? wanted.budget : null);
        expect(limits?.requests?.addresses).to.deep.equal('addresses' in wanted ? wanted.addresses : undefined);
        if ('notes' in wanted) expect(account?.keys[0]?.notes).to.have.length(wanted.notes);
      });
    }

    it('says of each key what is different here', async () => {
      const many = Array.from({ length: 201 }, (_, at) => `model-${at}`);
      const usedUp = 'its budget is used up: it spends nothing until its owner raises it';
      for (const [key, notes] of [
        [{}, []],
        [{ budget: 1n }, []],
        [{ budget: 0n }, [usedUp]],
        [{ budget: -7n }, [usedUp]],
        [{ budget: AMOUNT_MAX }, []],
        [{ budget: AMOUNT_MAX + 1n }, ['its budget is above the largest one, and comes as none']],
        [{ expiresAt: NOW + 1 }, []],
        [{ expiresAt: NOW }, ['it has expired']],
        [{ models: many.slice(1) }, []],
        [{ models: many }, ['these models of its limit are left out: model-200']],
        [{ isActive: false, budget: 0n }, ['disabled there: it comes as a revoked key', usedUp]],
      ] as const) {
        const from = { ...other('29', {}, key as Partial<SourceKey>), exchange: SAME };
        const [account] = await Array.fromAsync(moveAccounts(undefined, from, { ...OPTIONS, isDry: true }));
        const [told, ...others] = account?.keys ?? [];
        expect(told, JSON.stringify(notes)).to.deep.equal({ id: told?.id, name: 'first', state: 'planned', notes });
        expect([others, told?.id.slice(0, 4)]).to.deep.equal([[], 'key_']);
      }
    });

    it('takes balances up to the largest one, either way', async () => {
      for (const [quota, isTaken] of [
        [AMOUNT_MAX, true],
        [-AMOUNT_MAX, true],
        [AMOUNT_MAX + 1n, false],
        [-AMOUNT_MAX - 1n, false],
      ] as const) {
        const from = { ...other('28', { quota }), exchange: SAME };
        const [account] = await Array.fromAsync(moveAccounts(undefined, from, { ...OPTIONS, isDry: true }));
        expect(account?.state, `${quota}`).to.equal(isTaken ? 'planned' : 'refused');
        if (isTaken) continue;
        const { keys, notes, user, ...told } = account as MovedAccount;
        expect([keys, user]).to.deep.equal([[], from.users[0]]);
        expect(notes.join()).to.match(/^a balance of -?\d+\.\d+ RUB is more than a wallet takes/);
        expect(told).to.include({ name: 'Ann', after: null, priceList: 'vip' });
      }
    });

    it('tells of an account in full, and where it is from', async () => {
      const from = other('27', { createdAt: undefined, isAdministrator: true }, { createdAt: undefined, name: ' ' });
      const [account] = await move(from);
      const { id, keys, ...told } = account as MovedAccount;
      expect(told).to.deep.equal({
        ...{ user: from.users[0], name: 'Ann', before: 97_680_000n, after: 97_680_000n, state: 'moved' },
        priceList: 'vip',
        notes: ['an administrator there; "tollgate operator create" makes one here'],
      });
      expect(keys).to.deep.equal([{ id: keys[0]?.id, name: 'key 27', state: 'moved', notes: [] }]);
      expect(await store.accounts.get(id)).to.deep.include({ createdAt: NOW, autoTopup: NO_TOPUP });
      expect(await store.keys.get(keys[0]?.id ?? '')).to.deep.include({ createdAt: NOW });
      const notes = async (of: string) => (await store.ledger.entries(of, { limit: 9 })).map(({ note }) => note);
      expect(await notes(id)).to.deep.equal(['moved in from new-api, user 27, ann@example.com']);
      const [nameless] = await move(other('26', { email: '', name: '' }));
      expect(nameless?.name).to.equal('user 26');
      expect(await notes(nameless?.id ?? '')).to.deep.equal(['moved in from new-api, user 26']);
      const [poor] = await move(other('25', { quota: 0n, used: 0n }));
      expect(poor?.after).to.equal(0n);
    });

    it('brings a key whose limit allows no model as a revoked key', async () => {
      const [account] = await move(other('90', {}, { models: [], isActive: true }));
      expect(account?.keys[0]?.notes).to.deep.equal([
        'nothing of its limit of models can be kept: it comes as a revoked key',
      ]);
      expect((await store.keys.get(account?.keys[0]?.id ?? ''))?.revokedAt).to.equal(NOW);
    });

    it('reports and books texts of the source without control characters and half characters', async () => {
      const email = `${'x'.repeat(165)}${'😀'.repeat(9)}`;
      const [account] = await move(other('91', { email }, { models: ['gpt\u001b[2J', 'gpt-4o'] }));
      const { keys, id } = account as MovedAccount;
      expect(keys[0]?.notes).to.deep.equal(['these models of its limit are left out: gpt [2J']);
      const [entry] = (await store.ledger.entries(id, { limit: 10 })) ?? [];
      expect(entry?.note?.isWellFormed()).to.equal(true);
      expect((await verifyLedger(store)).problems).to.deep.equal([]);
    });

    it('is done once by several commands at once', async () => {
      const from = other('71', {});
      const all = await Promise.all([move(from), move(from), move(from)]);
      const ends = all.flatMap((accounts) => accounts.flatMap(({ keys }) => keys.map(({ state }) => state)));
      expect(ends).to.include('moved').and.not.to.include('left out');
      expect((await verifyLedger(store)).ok).to.equal(true);
    });

    it('notes its keys although another command, which had read before, wrote over them', async () => {
      const before = (await store.settings.get('moved-keys')) ?? '';
      const from = other('72', {});
      const accounts = moveAccounts(
        store,
        { ...from, users: [...from.users, { ...(from.users[0] as SourceUser), id: '73' }] },
        OPTIONS,
      );
      await accounts.next();
      await store.settings.set('moved-keys', before);
      await Array.fromAsync(accounts);
      const key = hashKey(`sk-${from.keys[0]?.secret}`);
      expect(await createMovedKeys(store).mayHave(key)).to.equal(true);
    });

    it('leaves out keys that could be guessed', async () => {
      const from = other('41', {});
      const keys = from.keys.map((key) => ({ ...key, secret: 'short' }));
      const [account] = await move({ ...from, keys });
      const notes = ['its text is too short, or has blanks or other characters that no key has'];
      expect(account?.keys).to.deep.equal([{ id: account?.keys[0]?.id, name: 'first', state: 'left out', notes }]);
      expect(account?.keys[0]?.id).to.match(/^key_[0-9a-f]{24}$/);
    });

    const fail = async () => {
      throw new StoreError('gone', 'no');
    };
    for (const [id, what, failing] of [
      ['51', 'noting the keys', () => ({ ...store, settings: { ...store.settings, set: fail } })],
      ['52', 'creating the account', () => ({ ...store, accounts: { ...store.accounts, put: fail } })],
      ['53', 'suspending it', () => ({ ...store, ledger: { ...store.ledger, entry: fail } })],
      ['54', 'adding a key', () => ({ ...store, keys: { ...store.keys, add: fail } })],
      ['55', 'revoking it', () => ({ ...store, keys: { ...store.keys, revoke: fail } })],
    ] as const) {
      it(`continues where it was interrupted, ${what}`, async () => {
        const from = other(id, { isActive: false }, { isActive: false });
        const broken = Array.fromAsync(moveAccounts(failing(), from, OPTIONS));
        expect(await broken.catch((error) => error)).to.be.instanceOf(StoreError);
        const [account] = await move(from);
        expect(account).to.deep.include({ after: 97_680_000n, notes: [] });
        expect((await store.accounts.get(account?.id ?? ''))?.status).to.equal('suspended');
        expect(await store.keys.get(account?.keys[0]?.id ?? '')).to.have.property('revokedAt', NOW);
        expect((await verifyLedger(store)).ok).to.equal(true);
      });
    }
  });
}
