// The words of the smart model that every layer shares: its tiers, where they begin, and what a reply says of a choice.

/** From the simplest work to the hardest. */
export const SMART_TIERS = ['lite', 'standard', 'heavy'] as const;

export type SmartTier = (typeof SMART_TIERS)[number];

export interface SmartThresholds {
  /** The least score of the tier. */
  readonly standard: number;
  readonly heavy: number;
}

export interface SmartRouting {
  /** As scored, also when a model of another tier had to run. */
  readonly tier: SmartTier;
  /** 0 to 100; the thresholds cut it into tiers. */
  readonly score: number;
  /** Names from `docs/smart.md`, in a fixed order. */
  readonly signals: readonly string[];
}
