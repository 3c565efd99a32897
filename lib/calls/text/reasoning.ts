// Turns what a client says about reasoning into what upstreams take: an effort and a token count, each derived from the
// other.
import type { Effort, Reasoning, ReasoningDisplay, ReasoningOff } from '../../upstream/contract/provider.ts';

/** What a request says. */
export type ReasoningWish =
  | ReasoningOff
  | ({ readonly mode: 'auto' } & ReasoningDisplay)
  | ({ readonly mode: 'on'; readonly effort: Effort } & ReasoningDisplay)
  | ({ readonly mode: 'on'; readonly budgetTokens: number } & ReasoningDisplay);

/** Upstreams that take a token count accept none below this. */
export const BUDGET_MIN = 1024;

/** The share of the answer's tokens for each effort, for upstreams that count them. */
const SHARES: Readonly<Record<Effort, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

export function resolveReasoning(wish: ReasoningWish, maxTokens: number): Reasoning {
  if (wish.mode !== 'on') return wish;
  const effort = 'effort' in wish ? wish.effort : deriveEffort(wish.budgetTokens);
  const wanted = 'effort' in wish ? Math.floor(maxTokens * SHARES[wish.effort]) : wish.budgetTokens;
  // The rest is for the answer itself.
  const budgetTokens = Math.min(Math.max(wanted, BUDGET_MIN), maxTokens - 1);
  return { mode: 'on', effort, ...(budgetTokens >= BUDGET_MIN && { budgetTokens }), ...pickDisplay(wish) };
}

/** What a wish says about what is shown. */
export function pickDisplay({ display, isShown }: ReasoningDisplay): ReasoningDisplay {
  return { ...(display && { display }), ...(isShown && { isShown }) };
}

function deriveEffort(budgetTokens: number): Effort {
  if (budgetTokens < 4096) return 'low';
  return budgetTokens < 16_384 ? 'medium' : 'high';
}
