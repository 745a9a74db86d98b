/** The part of a logger that a model uses. Nothing it is given holds a key or a prompt. */
export interface ModelLog {
  warn(facts: Record<string, unknown>, message: string): void
}
