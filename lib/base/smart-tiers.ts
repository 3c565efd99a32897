// The terms of the smart model that every layer shares: its names, its tiers, their thresholds, and what a reply says about a
// choice.

export const SMART_ID = 'smart';
export const SMART_ALIASES: readonly string[] = ['auto'];

/** Names that select a model per request. */
export const SMART_NAMES: ReadonlySet<string> = new Set([SMART_ID, ...SMART_ALIASES]);

/** From the simplest work to the hardest. */
export const SMART_TIERS = ['lite', 'standard', 'heavy'] as const;

export type SmartTier = (typeof SMART_TIERS)[number];

export interface SmartThresholds {
  /** The minimum score of the tier. */
  readonly standard: number;
  readonly heavy: number;
}

export interface SmartRouting {
  /** As scored, even if a model of another tier had to run. */
  readonly tier: SmartTier;
  /** 0 to 100; the thresholds cut it into tiers. */
  readonly score: number;
  /** Names from `docs/smart.md`, in a fixed order. */
  readonly signals: readonly string[];
}
