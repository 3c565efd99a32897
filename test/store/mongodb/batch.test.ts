// The commands of a batch: each is a round trip while the wallet waits.
import { expect } from 'chai';
import type { Document } from 'mongodb';
import type { Operation } from '../../../lib/money/decide.ts';
import { createApply } from '../../../lib/store/mongodb/batch.ts';
import { type Connection, connect } from '../../../lib/store/mongodb/connection.ts';
import { createTransactions, type Step, type Transactions } from '../../../lib/store/mongodb/transaction.ts';
import { createSessions, type TransactionSessions } from '../../../lib/store/mongodb/transaction-sessions.ts';
import type { LedgerStore } from '../../../lib/store/ports/ledger.ts';
import { MONGODB } from '../../../testkit/stores.ts';
import { applied, newId, newWallet, problemsOf, RUB, reserve, settle, useStore } from '../../contract/store/context.ts';

const joinedBy = ({ $lookup }: Document): string[] => ($lookup ? [$lookup.from] : []);
/** `find budgets`. */
const nameOf = (command: Document) => Object.entries(command)[0]?.join(' ') ?? '';

describe('commands of a batch on mongodb', () => {
  const context = useStore(MONGODB);
  const budget = { period: 1000, limit: 100n * RUB };
  let connection: Connection;
  let sessions: TransactionSessions;
  let sent: string[];
  /** What the last read fetched along with the wallet. */
  let joined: string[];
  /** The wallets of the last write. */
  let asked: Document[];
  let apply: LedgerStore['apply'];

  before(async () => {
    connection = await connect(context.url);
    sessions = createSessions(connection);
  });
  beforeEach(() => {
    sent = [];
    apply = createApply(recorded(createTransactions(connection.db, sessions)));
  });
  after(async () => {
    await sessions.close();
    await connection.client.close();
    await connection.scanner.close();
  });

  function recorded(transactions: Transactions): Transactions {
    return {
      run: (work) =>
        transactions.run({
          ...work,
          steps: (step) =>
            work.steps((command) => {
              sent.push(nameOf(command));
              if (command.update === 'wallets') asked = command.updates.map(({ q }: Document) => q);
              if (command.pipeline) joined = command.pipeline.flatMap(joinedBy);
              return step(command);
            }),
        }),
    };
  }

  async function commandsOf(...operations: Operation[]): Promise<readonly string[]> {
    sent = [];
    const outcomes = await apply(operations);
    expect(outcomes.map((outcome) => outcome?.status)).to.deep.equal(operations.map(() => 'done'));
    return sent;
  }

  const WRITES = ['update wallets', 'insert entries', 'insert charges'];
  const ENDS = ['update wallets', 'insert entries', 'delete charges', 'insert charges'];

  it('without a budget: one read and three writes, four if a call ends', async () => {
    const wallet = await newWallet(context.store);
    const first = newId('req');
    expect(await commandsOf(reserve(wallet, { chargeId: first }))).to.deep.equal(['aggregate wallets', ...WRITES]);
    const next = [settle(wallet, first), reserve(wallet)];
    expect(await commandsOf(...next)).to.deep.equal(['aggregate wallets', ...ENDS]);
  });

  it('with budgets: the same read, and one more write for all sums', async () => {
    const wallet = await newWallet(context.store);
    const first = newId('req');
    const second = newId('req');
    const one = newId('key');
    const old = newId('key');
    const holds = [
      reserve(wallet, { chargeId: first, key: one, budget }),
      reserve(wallet, { chargeId: second, key: newId('key'), budget: { ...budget, key: old } }),
    ];
    expect(await commandsOf(...holds)).to.deep.equal(['aggregate wallets', ...WRITES, 'update budgets']);
    const next = [settle(wallet, first), settle(wallet, second), reserve(wallet, { key: one, budget })];
    expect(await commandsOf(...next)).to.deep.equal(['aggregate wallets', ...ENDS, 'update budgets']);
    const sums = await context.store.ledger.budgets([one, old]);
    expect(Object.fromEntries(sums.map(({ key, spent }) => [key, spent]))).to.deep.equal({
      [one]: 2n * RUB,
      [old]: RUB,
    });
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('with caps of a member, an end user, a run and calls at once beside the budget of the key: nothing more than with one budget', async () => {
    const wallet = await newWallet(context.store);
    const sums = ['member', 'user', 'run'].map((name) => ({ id: newId(name), period: 0, limit: 9n * RUB }));
    const atOnce = ['key', 'account'].map((name) => ({ id: `calls:${newId(name)}`, period: 0, limit: 2n }));
    const caps = [...sums, ...atOnce];
    const [first, key] = [newId('req'), newId('key')];
    const hold = reserve(wallet, { chargeId: first, key, budget, caps });
    expect(await commandsOf(hold)).to.deep.equal(['aggregate wallets', ...WRITES, 'update budgets']);
    const next = [settle(wallet, first), reserve(wallet, { key, budget, caps })];
    expect(await commandsOf(...next)).to.deep.equal(['aggregate wallets', ...ENDS, 'update budgets']);
    expect(await context.store.ledger.budgets(sums.map(({ id }) => id))).to.have.length(3);
    const counts = await context.store.ledger.budgets(atOnce.map(({ id }) => id));
    expect(counts.map(({ spent }) => spent)).to.deep.equal([1n, 1n]);
  });

  it('reads later only the sums of calls found in the first read', async () => {
    const wallet = await newWallet(context.store);
    const theirs = newId('req');
    const mine = newId('req');
    const [key, other] = [newId('key'), newId('key')];
    await applied(context.store, reserve(wallet, { chargeId: theirs, key, budget }));
    await commandsOf(reserve(wallet, { chargeId: mine, key: other, budget }));
    const ends = [settle(wallet, theirs, { amount: 3n * RUB }), settle(wallet, mine)];
    expect(await commandsOf(...ends)).to.deep.equal(['aggregate wallets', 'find budgets', ...ENDS, 'update budgets']);
    const [sum] = await context.store.ledger.budgets([key]);
    expect(sum?.spent).to.equal(3n * RUB);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('reads its own open calls while another process writes the wallet, and not while it is alone', async () => {
    const wallet = await newWallet(context.store);
    const first = newId('req');
    const second = newId('req');
    await commandsOf(reserve(wallet, { chargeId: first }));
    await commandsOf(settle(wallet, first));
    expect(joined).to.deep.equal([]);
    await applied(context.store, reserve(wallet));
    await commandsOf(reserve(wallet, { chargeId: second }));
    await commandsOf(settle(wallet, second));
    expect(joined).to.deep.equal(['charges']);
  });

  it('does not undo a concurrent suspension', async () => {
    const wallet = await newWallet(context.store);
    const transactions = createTransactions(connection.db, sessions);
    let isFirst = true;
    const suspending = (step: Step) => async (command: Document) => {
      const reply = await step(command);
      if (isFirst) await context.store.accounts.setStatus(wallet, 'suspended');
      isFirst = false;
      return reply;
    };
    apply = createApply({
      run: (work) => transactions.run({ ...work, steps: (step) => work.steps(suspending(step)) }),
    });
    const [outcome] = await apply([reserve(wallet)]);
    expect(outcome?.status).to.equal('suspended');
    expect(await context.store.ledger.wallet(wallet)).to.include({ status: 'suspended', held: 0n });
  });

  it('writes a wallet only if it is unchanged since the read', async () => {
    const wallet = await newWallet(context.store);
    const { seq } = (await context.store.ledger.wallet(wallet)) ?? {};
    await commandsOf(reserve(wallet));
    expect(asked).to.deep.equal([{ _id: wallet, seq }]);
  });

  /** The wallet has changed since the read, at the first attempt only. */
  function interrupted(): LedgerStore['apply'] {
    const transactions = createTransactions(connection.db, sessions);
    let changed = 1;
    const answering = (step: Step) => async (command: Document) => {
      const reply = await step(command);
      if (nameOf(command) !== 'update wallets' || changed-- <= 0) return reply;
      return { ...reply, n: 0 };
    };
    return createApply(
      recorded({ run: (work) => transactions.run({ ...work, steps: (step) => work.steps(answering(step)) }) }),
    );
  }

  it('restarts if the wallet has changed since the read', async () => {
    const wallet = await newWallet(context.store);
    apply = interrupted();
    const once = ['aggregate wallets', 'update wallets'];
    expect(await commandsOf(reserve(wallet))).to.deep.equal([...once, 'aggregate wallets', ...WRITES]);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('does not use a cached sum that another process has changed', async () => {
    const [wallet, mine, key] = [await newWallet(context.store), newId('req'), newId('key')];
    await commandsOf(reserve(wallet, { chargeId: mine, key, budget }));
    await applied(context.store, reserve(wallet, { key, amount: 50n * RUB, budget }));
    await commandsOf(settle(wallet, mine, { amount: 7n * RUB }));
    const [sum] = await context.store.ledger.budgets([key]);
    expect(sum?.spent).to.equal(57n * RUB);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });

  it('does not use the cache of a wallet after a batch with several wallets', async () => {
    const wallet = await newWallet(context.store);
    const other = await newWallet(context.store);
    const held = newId('req');
    await commandsOf(reserve(wallet, { chargeId: held }));
    await commandsOf(reserve(wallet), reserve(other));
    await applied(context.store, settle(wallet, held, { amount: 3n * RUB }));
    const [again] = await apply([settle(wallet, held, { amount: 7n * RUB })]);
    expect(again).to.have.property('status').not.equal('done');
    expect((await context.store.ledger.charge(held))?.charged).to.equal(3n * RUB);
    expect(await problemsOf(context.store, wallet)).to.deep.equal([]);
  });
});
