// A real store whose calls fail, wait or lose their answer when a test says so.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccounts } from '../lib/accounts/accounts.ts';
import type { Operation, Outcome, Wallet } from '../lib/money/decide.ts';
import { openStore } from '../lib/store/open.ts';
import { type CallName, mapCalls, type PortName } from '../lib/store/port-calls.ts';
import type { LedgerStore } from '../lib/store/ports/ledger.ts';
import { type Store, StoreError } from '../lib/store/store.ts';

/** Makes the real call, or not, or later, or withholds its answer. */
export type Behaviour = (call: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>;

/** The store reports that it has not written. */
export const refuse: Behaviour = async () => {
  throw new StoreError('refused by the test', 'no');
};

/** Works on a batch until the gate opens, then reports that it has not written. */
export const refuseAfter =
  (gate: Promise<unknown>): Behaviour =>
  async () => {
    await gate;
    throw new StoreError('refused by the test', 'no');
  };

/** Nothing is written, and the store cannot report that: the thread died before it started. */
export const vanish: Behaviour = async () => {
  throw new StoreError('vanished by the test', 'unknown');
};

/** Everything is written, and the answer is lost: the thread died after the commit. */
export const lose: Behaviour = async (call) => {
  await call();
  throw new StoreError('lost by the test', 'unknown');
};

/** Waits for the gate, then makes the call. */
export const waitFor =
  (gate: Promise<unknown>): Behaviour =>
  async (call) => {
    await gate;
    return call();
  };

/** Makes the call at once and answers after the gate. */
export const answerAfter =
  (gate: Promise<unknown>): Behaviour =>
  async (call) => {
    const result = await call();
    await gate;
    return result;
  };

/** A promise with its handle. */
export function makeGate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

type Name = `${PortName}.${string}`;

export interface Faults {
  readonly store: Store;
  /** What the next calls do, one each; later ones work normally. */
  next(name: Name, ...behaviours: readonly Behaviour[]): void;
  /** What every call does from now on; undefined: works normally. */
  always(name: Name, behaviour: Behaviour | undefined): void;
}

export interface FaultyStore extends Faults {
  /** The same database without faults. */
  readonly real: Store;
  readonly path: string;
  /** The calls of `ledger.apply` so far, each as the ids of its operations. */
  readonly batches: readonly (readonly string[])[];
  /** A new account with money; resolves to its id. */
  wallet(rub?: bigint): Promise<string>;
  read(id: string): Promise<Wallet>;
  apply(op: Operation): Promise<Outcome>;
  close(): Promise<void>;
}

export interface FaultyOptions {
  /** Another kind of ledger store, as other databases have. */
  readonly shape?: Partial<Pick<LedgerStore, 'lane' | 'batchMax'>>;
}

/** The same store, with calls that do what a test plans. */
export function createFaultyStore(
  real: Store,
  onApply: (batch: readonly Operation[]) => void = () => undefined,
): Faults {
  const planned = new Map<string, Behaviour[]>();
  const constant = new Map<string, Behaviour>();
  const nextBehaviour = ({ port, name }: CallName) =>
    planned.get(`${port}.${name}`)?.shift() ?? constant.get(`${port}.${name}`);
  const store = mapCalls(
    real,
    (call, name) =>
      (...args) => {
        if (name.port === 'ledger' && name.name === 'apply') onApply(args[0] as Operation[]);
        const behaviour = nextBehaviour(name);
        return behaviour ? behaviour(() => call(...args), args) : call(...args);
      },
    (call, name) =>
      async function* stream(...args) {
        await nextBehaviour(name)?.(async () => undefined, args);
        yield* call(...args);
      },
  );
  return {
    store,
    next: (name, ...behaviours) => void planned.set(name, [...(planned.get(name) ?? []), ...behaviours]),
    always: (name, behaviour) => void (behaviour ? constant.set(name, behaviour) : constant.delete(name)),
  };
}

export async function openFaultyStore({ shape = {} }: FaultyOptions = {}): Promise<FaultyStore> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-faulty-'));
  const path = join(folder, 'test.db');
  const real = await openStore(`sqlite:${path}`, { inProcess: true });
  const batches: string[][] = [];
  const accounts = createAccounts({ store: real, keyPrefix: 'tg-' });

  const onApply = (batch: readonly Operation[]) => void batches.push(batch.map(nameOperation));

  const apply = async (op: Operation) => {
    const [outcome] = await real.ledger.apply([op]);
    return outcome as Outcome;
  };
  return {
    ...createFaultyStore({ ...real, ledger: { ...real.ledger, ...shape } }, onApply),
    real,
    path,
    batches,
    async wallet(rub = 1000n) {
      const { id } = await accounts.create('test');
      const amount = rub * 1_000_000n;
      if (amount > 0n) await apply({ kind: 'topup', wallet: id, at: Date.now(), amount, paymentId: `first-${id}` });
      return id;
    },
    read: async (id) => (await real.ledger.wallet(id)) as Wallet,
    apply,
    async close() {
      await real.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function nameOperation(op: Operation): string {
  return 'chargeId' in op ? `${op.kind}:${op.chargeId}` : op.kind;
}
