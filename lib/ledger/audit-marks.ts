// The audit of marks: rows of keys, payments, saved methods, automatic top-ups, jobs and archives whose values were changed behind
// the store's back, although nothing else repeats them.
import type { MarkedPage } from '../store/ports/marked.ts';
import type { Store } from '../store/store.ts';
import type { Found } from './audit-rules.ts';

type Parts = Pick<Store, 'keys' | 'payments' | 'jobs' | 'archives'>;

type Look = (page: { readonly after: string; readonly limit: number }) => Promise<MarkedPage>;

const PAGE = 500;

export async function checkMarks({ keys, payments, jobs, archives }: Parts, found: Found): Promise<void> {
  const looks: readonly (readonly [string, Look])[] = [
    ['key', (page) => keys.unmarked(page)],
    ['payment', (page) => payments.unmarked('payments', page)],
    ['saved method', (page) => payments.unmarked('methods', page)],
    ['consent', (page) => payments.unmarked('consents', page)],
    ['automatic top-up of', (page) => payments.unmarked('autoTopups', page)],
    ['job', (page) => jobs.unmarked(page)],
    ['opening of', (page) => archives.unmarked('openings', page)],
    ['archive', (page) => archives.unmarked('archives', page)],
  ];
  for (const [name, look] of looks) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = await look({ after, limit: PAGE });
      for (const { id, wallet } of page.found) found(wallet, `${name} ${id}: its mark says other values`);
      after = page.next;
    }
  }
}
