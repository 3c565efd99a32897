// GET /api/v1/balance: the wallet of the key's account, and the key itself; with its own rate bucket.
import type { ServerRoute } from '@hapi/hapi';
import { orUnavailable, readWallet } from '../../accounts/read-wallet.ts';
import { DAY_MS } from '../../base/durations.ts';
import { fault } from '../../base/faults.ts';
import { FIRST_TOPUP_MINIMUM, needsFirstPayment, type Wallet } from '../../money/decide.ts';
import { getGrantedBalance } from '../../money/grants.ts';
import { toRub } from '../../money/money.ts';
import { getKeyHolder } from '../auth.ts';
import type { Services } from '../services.ts';

const THIRTY_DAYS_MS = 30 * DAY_MS;

export function balanceRoute({ store, holders, limits }: Services): ServerRoute {
  return {
    method: 'GET',
    path: '/api/v1/balance',
    options: { plugins: { limit: limits.balance } },
    handler: async (request) => {
      const holder = getKeyHolder(request);
      const [wallet, chargedBefore, account] = await Promise.all([
        readWallet(store, holder.account),
        orUnavailable(store.ledger.chargedAt(holder.account, Date.now() - THIRTY_DAYS_MS)),
        orUnavailable(store.accounts.get(holder.account)),
      ]);
      if (!account) throw fault('internal', {}, new Error(`there is no account ${holder.account}`));
      const { requestsCount, lastUsedAt } = holders.usage(holder);
      const { enabled, amount, threshold } = account.autoTopup;
      return {
        currency: 'RUB',
        balance_rub: toRub(wallet.avail),
        ...describeGrants(wallet),
        topped_up_total_rub: toRub(wallet.topped),
        spent_30d_rub: toRub(wallet.charged - chargedBefore),
        min_topup_rub: toRub(FIRST_TOPUP_MINIMUM),
        auto_topup: { enabled, amount_rub: toRub(amount), threshold_rub: toRub(threshold) },
        key: {
          name: holder.name,
          requests_count: requestsCount,
          last_used_at: new Date(lastUsedAt ?? Date.now()).toISOString(),
        },
      };
    },
  };
}

/** Absent without grants, so that most replies stay as they were. */
function describeGrants(wallet: Wallet) {
  const granted = getGrantedBalance(wallet);
  if (granted === 0n) return {};
  return { granted_rub: toRub(granted), spendable_rub: toRub(needsFirstPayment(wallet) ? 0n : wallet.avail) };
}
