// Fairness between processes that write the same wallet: without pauses, the process that commits would always be the
// first again.
import { LRUCache } from 'lru-cache';
import { delay } from './call.ts';

export interface WriteSlot {
  /** Whether no other writer of the wallet was noticed lately. */
  readonly alone: boolean;
  /** Called when an attempt starts. */
  begin(): void;
  /** Called on a conflict with another writer. */
  readonly conflict: () => void;
  /** Called when the transaction has committed. */
  end(batch: { readonly seqBefore: number; readonly seqAfter: number }): void;
}

export interface WriteFairness {
  /** Resolves when this process may write the wallet. */
  wait(wallet: string): Promise<WriteSlot>;
}

interface WalletPace {
  /** `seq` of the wallet after the last write of this process. */
  seq: number | undefined;
  /** When another writer was last noticed. */
  othersAt: number;
  averageMs: number;
  notBefore: number;
}

const WALLETS_MAX = 10_000;
/** How long another writer is expected to write again. */
const OTHERS_MS = 1000;
/** The weight of a new duration in the average. */
const WEIGHT = 0.1;

export function createWriteFairness(): WriteFairness {
  const paces = new LRUCache<string, WalletPace>({ max: WALLETS_MAX });

  function getPace(wallet: string): WalletPace {
    let pace = paces.get(wallet);
    if (!pace) {
      pace = { seq: undefined, othersAt: Number.NEGATIVE_INFINITY, averageMs: 0, notBefore: 0 };
      paces.set(wallet, pace);
    }
    return pace;
  }

  return {
    async wait(wallet) {
      const pace = getPace(wallet);
      const waitMs = pace.notBefore - performance.now();
      if (waitMs > 0) await delay(waitMs);
      return createWriteSlot(pace);
    },
  };
}

function createWriteSlot(pace: WalletPace): WriteSlot {
  let from = performance.now();
  const noteOtherWriter = () => {
    pace.othersAt = performance.now();
  };
  return {
    alone: from - pace.othersAt > OTHERS_MS,
    begin() {
      from = performance.now();
    },
    conflict: noteOtherWriter,
    end({ seqBefore, seqAfter }) {
      const now = performance.now();
      if (pace.seq !== undefined && seqBefore !== pace.seq) noteOtherWriter();
      pace.seq = seqAfter;
      const tookMs = now - from;
      pace.averageMs += (tookMs - pace.averageMs) * (pace.averageMs === 0 ? 1 : WEIGHT);
      if (now - pace.othersAt < OTHERS_MS) pace.notBefore = now + Math.random() * pace.averageMs;
    },
  };
}
