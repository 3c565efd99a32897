// Copies promo codes and their uses: an account must not use a code twice on the copy.
import type { PromoStore, PromoUse } from './ports/promos.ts';

const ROWS_PER_PAGE = 500;

export async function copyPromos(from: PromoStore, to: PromoStore): Promise<void> {
  for (let after = ''; ; ) {
    const codes = await from.page({ after, limit: ROWS_PER_PAGE });
    await to.put({ codes, uses: [] });
    const last = codes.at(-1);
    if (!last || codes.length < ROWS_PER_PAGE) break;
    after = last.code;
  }
  for (let after: PromoUse | undefined; ; ) {
    const uses = await from.uses({ limit: ROWS_PER_PAGE, ...(after && { after }) });
    await to.put({ codes: [], uses });
    after = uses.at(-1);
    if (!after || uses.length < ROWS_PER_PAGE) return;
  }
}
