// Costs and margins without the attempts whose cost nobody knows: they have a star, and a note below says what it means.
import { type Html, html } from '../html.ts';
import type { UserVisit } from '../visit.ts';
import { DASHBOARD_WORDS } from './words.ts';

interface Counted {
  /** Attempts that may have cost something nobody knows. */
  readonly unpriced: number;
}

/** The sum with its star, if it needs one. */
export function markUnpriced(sum: string, { unpriced }: Counted): string {
  return unpriced > 0 ? `${sum}*` : sum;
}

/** Undefined if nothing has a star. */
export function unpricedNote({ language, format }: UserVisit, { unpriced }: Counted): Html | undefined {
  if (unpriced <= 0) return undefined;
  return html`<p class="hint">* ${DASHBOARD_WORDS[language].unpriced(format.number(unpriced))}</p>`;
}
