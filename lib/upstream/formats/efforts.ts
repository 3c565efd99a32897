// The efforts that upstreams know, some of them fewer.
import type { Reasoning } from '../contract/provider.ts';

/** Ascending. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The most that is no more than wanted, else the least; reasoning that is wanted is not turned off. */
export function fitEffort(reasoning: Reasoning, taken: readonly string[]): string {
  const wanted = reasoning.mode === 'on' ? reasoning.effort : reasoning.mode === 'off' ? 'none' : 'medium';
  const known = EFFORTS.filter((effort) => taken.includes(effort) && (effort !== 'none' || wanted === 'none'));
  return known.findLast((effort) => EFFORTS.indexOf(effort) <= EFFORTS.indexOf(wanted)) ?? known[0] ?? wanted;
}
