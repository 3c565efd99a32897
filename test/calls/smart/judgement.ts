// Compares the router's answers with the labels of a set.

import type { SmartRouting, SmartTier } from '../../../lib/base/smart-tiers.ts';
import { routeSmart } from '../../../lib/calls/smart/route.ts';
import type { Labelled } from './prompts.ts';

export interface Judgement {
  readonly rows: readonly { readonly prompt: Labelled; readonly routing: SmartRouting; readonly right: boolean }[];
  readonly total: number;
  readonly right: number;
  /** Cheap work sent to the strongest model, or the other way round. */
  readonly swaps: number;
  /** Label, then answer; an accepted answer counts as the label. */
  readonly confusion: Readonly<Record<SmartTier, Record<SmartTier, number>>>;
}

export function judge(prompts: readonly Labelled[]): Judgement {
  const rows = prompts.map((prompt) => {
    const routing = routeSmart(prompt.request);
    return { prompt, routing, right: prompt.accept.includes(routing.tier) };
  });
  const empty = (): Record<SmartTier, number> => ({ lite: 0, standard: 0, heavy: 0 });
  const confusion = { lite: empty(), standard: empty(), heavy: empty() };
  for (const { prompt, routing, right } of rows) confusion[prompt.tier][right ? prompt.tier : routing.tier]++;
  return {
    rows,
    total: rows.length,
    right: rows.filter((row) => row.right).length,
    swaps: rows.filter(({ prompt, routing, right }) => !right && areOpposite(prompt.tier, routing.tier)).length,
    confusion,
  };
}

function areOpposite(one: SmartTier, other: SmartTier): boolean {
  return one !== other && one !== 'standard' && other !== 'standard';
}
