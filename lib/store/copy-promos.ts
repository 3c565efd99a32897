// Copies promo codes and their uses: an account must not use a code twice on the copy.
import type { PromoStore, PromoUse } from './ports/promos.ts';
import { walkFrom, walkPages } from './walks.ts';

const ROWS_PER_PAGE = 500;

/** Uses first: from a store in use, each code has been used as often as the copy has uses of it. */
export async function copyPromos(from: PromoStore, to: PromoStore, live: boolean): Promise<void> {
  const counts = new Map<string, number>();
  const readUses = (after?: PromoUse) => from.uses({ limit: ROWS_PER_PAGE, ...(after && { after }) });
  for await (const uses of walkFrom(ROWS_PER_PAGE, readUses)) {
    for (const { code } of uses) counts.set(code, (counts.get(code) ?? 0) + 1);
    await to.put({ codes: [], uses });
  }
  for await (const promos of walkPages(ROWS_PER_PAGE, from.page, ({ code }) => code)) {
    const codes = live ? promos.map((promo) => ({ ...promo, used: counts.get(promo.code) ?? 0 })) : promos;
    await to.put({ codes, uses: [] });
  }
}
