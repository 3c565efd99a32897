// Runs a batch of operations over what a store has loaded; every store writes exactly what this returns.
import {
  type Charge,
  chargeIdOf,
  type Decision,
  decide,
  type Entry,
  type Operation,
  type Outcome,
  operationId,
  type Wallet,
} from './decide.ts';

/** What a store loads for a batch: the rows that `keysOf` names, as far as they exist. */
export interface Loaded {
  readonly wallets: Map<string, Wallet>;
  readonly charges: Map<string, Charge>;
  /** Entries by operation id, only for operations without a charge. */
  readonly entries: Map<string, Entry>;
}

/** What a store writes, in one transaction; the outcomes are in the order of the operations. */
export interface Folded {
  readonly outcomes: readonly Outcome[];
  /** Changed wallets, as they are at the end. `seq` before the batch is the last entry's less the wallet's new entries. */
  readonly wallets: readonly Wallet[];
  /** New and changed charges, as they are at the end. */
  readonly charges: readonly Charge[];
  /** New entries, in order. */
  readonly entries: readonly Entry[];
}

/** The ids of the rows a batch needs. */
export interface BatchKeys {
  readonly wallets: Set<string>;
  readonly charges: Set<string>;
  readonly entries: Set<string>;
}

export function keysOf(operations: readonly Operation[]): BatchKeys {
  const keys: BatchKeys = { wallets: new Set(), charges: new Set(), entries: new Set() };
  for (const op of operations) {
    keys.wallets.add(op.wallet);
    const chargeId = chargeIdOf(op);
    if (chargeId === undefined) keys.entries.add(operationId(op));
    else keys.charges.add(chargeId);
  }
  return keys;
}

export function fold(loaded: Loaded, operations: readonly Operation[]): Folded {
  const wallets = new Map<string, Wallet>();
  const charges = new Map<string, Charge>();
  const entries: Entry[] = [];
  const outcomes = operations.map((op): Outcome => {
    const chargeId = chargeIdOf(op);
    const wallet = wallets.get(op.wallet) ?? loaded.wallets.get(op.wallet);
    const charge = chargeId === undefined ? undefined : (charges.get(chargeId) ?? loaded.charges.get(chargeId));
    const prior = chargeId === undefined ? loaded.entries.get(operationId(op)) : undefined;
    const decision = decide({ wallet, charge, prior }, op);
    if (!decision.entry) return decision;
    const outcome = outcomeOf(decision);
    entries.push(decision.entry);
    if (chargeId === undefined) loaded.entries.set(decision.entry.opId, decision.entry);
    if (outcome.wallet) wallets.set(outcome.wallet.id, outcome.wallet);
    if (outcome.charge) charges.set(outcome.charge.id, outcome.charge);
    return outcome;
  });
  return { outcomes, wallets: [...wallets.values()], charges: [...charges.values()], entries };
}

/** Without the entry; spreading the rest of an object costs as much as deciding. */
function outcomeOf({ status, wallet, charge }: Decision): Outcome {
  if (!wallet) return { status };
  return charge ? { status, wallet, charge } : { status, wallet };
}
