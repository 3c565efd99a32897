// Copies papers for companies: the copy goes on with the same numbers.
import type { PaperRow } from './ports/papers.ts';
import type { Store } from './store.ts';
import { walkFrom } from './walks.ts';

const PAPERS_PER_PAGE = 200;

/**
 * After the wallets. A payment that was credited after its wallet had been copied is to be credited on the copy: the next
 * import of the statement does.
 */
export async function copyPapers(from: Pick<Store, 'papers'>, to: Pick<Store, 'papers' | 'ledger'>): Promise<void> {
  const read = (after?: PaperRow) => from.papers.page({ limit: PAPERS_PER_PAGE, ...(after && { after }) });
  for await (const papers of walkFrom(PAPERS_PER_PAGE, read)) {
    await to.papers.put(await Promise.all(papers.map((paper) => rewindPayment(to, paper))));
  }
}

async function rewindPayment({ ledger }: Pick<Store, 'ledger'>, paper: PaperRow): Promise<PaperRow> {
  if (paper.kind !== 'payment' || paper.state !== 'credited') return paper;
  return (await ledger.entry(`topup:${paper.id}`)) ? paper : { ...paper, state: 'claimed' };
}
