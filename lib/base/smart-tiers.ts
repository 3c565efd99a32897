// The terms of the smart model that every layer shares: its names, tiers and thresholds, and the routing info in replies.

export const SMART_ID = 'smart';
export const SMART_ALIASES: readonly string[] = ['auto'];

/** Names that select a model per request. */
export const SMART_NAMES: ReadonlySet<string> = new Set([SMART_ID, ...SMART_ALIASES]);

/** From the simplest tasks to the hardest. */
export const SMART_TIERS = ['lite', 'standard', 'heavy'] as const;

export type SmartTier = (typeof SMART_TIERS)[number];

export interface SmartThresholds {
  /** The minimum score of the tier. */
  readonly standard: number;
  readonly heavy: number;
}

export interface SmartRouting {
  /** The scored tier, even if a model of another tier answered. */
  readonly tier: SmartTier;
  /** 0 to 100; the thresholds cut it into tiers. */
  readonly score: number;
  /** Names from `docs/smart.md`, in a fixed order. */
  readonly signals: readonly string[];
}
