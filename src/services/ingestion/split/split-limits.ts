/** Sizes in estimated tokens. */
export interface SplitLimits {
  /** The most a passage holds; the last one of a text may hold `least` more. */
  tokens: number
  /** The most that a passage repeats of the end of the one before it. */
  overlap: number
  /** A last passage with less than this joins the one before it. */
  least: number
  /** A heading or a paragraph begins a new passage when the one before holds this much; shorter ones share one. */
  enough: number
}

/** Measured, see docs/ingestion.md. */
export const SPLIT_LIMITS: SplitLimits = { tokens: 400, overlap: 60, least: 60, enough: 200 }
