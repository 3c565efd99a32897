// Fairness between processes that write the same wallet: without pauses, the last to commit would always be first
// again.
import { LRUCache } from 'lru-cache';
import { pause } from './call.ts';

export interface Turn {
  /** Whether no other writer of the wallet was seen lately. */
  readonly alone: boolean;
  /** An attempt starts. */
  begin(): void;
  /** Another writer was in the way. */
  readonly conflict: () => void;
  /** The transaction has committed. */
  end(seqs: { readonly seqBefore: number | undefined; readonly seqAfter: number | undefined }): void;
}

export interface Turns {
  /** Resolves when it is this process's turn on the wallet. */
  wait(wallet: string): Promise<Turn>;
}

interface Rhythm {
  /** The wallet's number as this process left it. */
  seq: number | undefined;
  /** When another writer was last noticed. */
  othersAt: number;
  averageMs: number;
  notBefore: number;
}

const WALLETS_MAX = 10_000;
/** How long another writer is expected to come back. */
const OTHERS_MS = 1000;
/** The weight of a new time in the average. */
const WEIGHT = 0.1;

export function createWriteFairness(): Turns {
  const rhythms = new LRUCache<string, Rhythm>({ max: WALLETS_MAX });

  function rhythmOf(wallet: string): Rhythm {
    let rhythm = rhythms.get(wallet);
    if (!rhythm) {
      rhythm = { seq: undefined, othersAt: Number.NEGATIVE_INFINITY, averageMs: 0, notBefore: 0 };
      rhythms.set(wallet, rhythm);
    }
    return rhythm;
  }

  return {
    async wait(wallet) {
      const rhythm = rhythmOf(wallet);
      const waitMs = rhythm.notBefore - performance.now();
      if (waitMs > 0) await pause(waitMs);
      return turnOf(rhythm);
    },
  };
}

function turnOf(rhythm: Rhythm): Turn {
  let from = performance.now();
  const noticed = () => {
    rhythm.othersAt = performance.now();
  };
  return {
    alone: from - rhythm.othersAt > OTHERS_MS,
    begin() {
      from = performance.now();
    },
    conflict: noticed,
    end({ seqBefore, seqAfter }) {
      const now = performance.now();
      if (rhythm.seq !== undefined && seqBefore !== undefined && seqBefore !== rhythm.seq) noticed();
      rhythm.seq = seqAfter;
      const tookMs = now - from;
      rhythm.averageMs += (tookMs - rhythm.averageMs) * (rhythm.averageMs === 0 ? 1 : WEIGHT);
      if (now - rhythm.othersAt < OTHERS_MS) rhythm.notBefore = now + Math.random() * rhythm.averageMs;
    },
  };
}
