// Watches a balance: alerts once when it falls below a threshold, and again only after a recovery or a top-up.
import type { Wallet } from '../money/decide.ts';
import { formatRub, type Micro } from '../money/money.ts';
import type { AlarmMark, Watch } from './watch.ts';

/** A balance this many percent above the threshold has recovered; hovering around the threshold alerts once. */
const RECOVERED_PERCENT = 10n;

/** Holds count as balance, because every call creates and releases one. */
export function watchBalance({ avail, held, topped }: Pick<Wallet, 'avail' | 'held' | 'topped'>, below: Micro): Watch {
  const balance = avail + held;
  return {
    subject: 'balance',
    decide(mark) {
      if (mark && !isAlertObsolete(mark, { balance, topped, below })) return { kind: 'stay' };
      if (balance >= below) return { kind: mark ? 'rearm' : 'stay' };
      return {
        kind: 'alert',
        mark: { below: `${below}`, topped: `${topped}` },
        content: { type: 'balance.below', data: { threshold: formatRub(below), balance: formatRub(balance) } },
      };
    },
  };
}

/** Whether the last alert no longer applies: the balance recovered, was topped up, or has another threshold. */
function isAlertObsolete(mark: AlarmMark, now: { balance: Micro; topped: Micro; below: Micro }): boolean {
  if (mark.below !== `${now.below}` || now.topped > BigInt(mark.topped ?? 0)) return true;
  return now.balance * 100n > now.below * (100n + RECOVERED_PERCENT);
}
