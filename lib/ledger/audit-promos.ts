// The audit of promo codes: how often one was used must be how many accounts have used it, and a grant that names one must
// be of such a use, and of its amount. A use without a grant is none: the account may have had too many.
import type { Entry } from '../money/decide.ts';
import { makePromoGrantId, PROMO_GRANT_IDS } from '../money/grants.ts';
import type { Micro } from '../money/money.ts';
import type { PromoCode, PromoUse } from '../store/ports/promos.ts';
import type { Store } from '../store/store.ts';
import { walkFrom, walkRows } from '../store/walks.ts';
import type { ReportProblem } from './audit-rules.ts';

interface PromoCheck {
  /** Adds the entries of the next page of the journal. */
  add(entries: readonly Entry[]): void;
  /** Called after the last page. */
  end(): Promise<void>;
}

const ROWS_PER_PAGE = 500;

/** The ids of entries that give a grant for a code. */
const PROMO_GRANT = `grant:${PROMO_GRANT_IDS}`;

export function createPromoCheck({ promos }: Pick<Store, 'promos'>, report: ReportProblem): PromoCheck {
  /** What each grant of a code gave, by its operation. */
  const given = new Map<string, { readonly wallet: string; readonly amount: Micro }>();

  async function readCodes(): Promise<ReadonlyMap<string, PromoCode>> {
    const codes = new Map<string, PromoCode>();
    for await (const promo of walkRows(ROWS_PER_PAGE, promos.page, ({ code }) => code)) codes.set(promo.code, promo);
    return codes;
  }

  function checkUse(use: PromoUse, promo: PromoCode | undefined): void {
    const opId = `grant:${makePromoGrantId(use)}`;
    const grant = given.get(opId);
    given.delete(opId);
    if (!promo) report(use.account, `promo code ${use.code}: it was used, but does not exist`);
    else if (grant && grant.amount !== promo.amount)
      report(use.account, `promo code ${use.code}: it gave ${grant.amount} instead of ${promo.amount}`);
  }

  return {
    add(entries) {
      for (const { kind, opId, wallet, avail } of entries) {
        // An operator may have called a grant of their own by such a beginning: before it was reserved.
        const isOfCode = opId.startsWith(PROMO_GRANT) && opId.endsWith(`:${wallet}`);
        if (kind === 'grant' && isOfCode) given.set(opId, { wallet, amount: avail });
      }
    },
    async end() {
      const before = await readCodes();
      const counts = new Map<string, number>();
      const read = (after?: PromoUse) => promos.uses({ limit: ROWS_PER_PAGE, ...(after && { after }) });
      for await (const page of walkFrom(ROWS_PER_PAGE, read)) {
        for (const use of page) {
          counts.set(use.code, (counts.get(use.code) ?? 0) + 1);
          checkUse(use, before.get(use.code) ?? (await promos.get(use.code)));
        }
      }
      // Codes are used meanwhile.
      for (const { code, used } of before.values()) {
        const count = counts.get(code) ?? 0;
        const now = (await promos.get(code))?.used ?? used;
        if (count < used || count > now)
          report('promo codes', `promo code ${code}: used ${used} times instead of ${count}`);
      }
      for (const [opId, { wallet }] of given) report(wallet, `${opId}: no use of the code gave it`);
    },
  };
}
