// Watches a balance: alerts once when it falls below a threshold, and again only after it recovered or was topped up.

import type { Wallet } from '../money/decide.ts';
import { formatRub, type Micro } from '../money/money.ts';
import type { Mark, Watch } from './watch.ts';

/** Percent above the threshold that counts as recovered, so that a balance hovering around it alerts once. */
const RECOVERED_PERCENT = 10n;

/** Holds count as balance: they come and go with every call. */
export function watchBalance({ avail, held, topped }: Pick<Wallet, 'avail' | 'held' | 'topped'>, below: Micro): Watch {
  const balance = avail + held;
  return {
    subject: 'balance',
    decide(mark) {
      if (mark && !isOver(mark, { balance, topped, below })) return { kind: 'stay' };
      if (balance >= below) return { kind: mark ? 'arm' : 'stay' };
      return {
        kind: 'tell',
        mark: { below: `${below}`, topped: `${topped}` },
        happening: { type: 'balance.below', data: { threshold: formatRub(below), balance: formatRub(balance) } },
      };
    },
  };
}

/** Whether the last alert no longer applies: recovered, topped up, or another threshold. */
function isOver(mark: Mark, now: { balance: Micro; topped: Micro; below: Micro }): boolean {
  if (mark.below !== `${now.below}` || now.topped > BigInt(mark.topped ?? 0)) return true;
  return now.balance * 100n > now.below * (100n + RECOVERED_PERCENT);
}
