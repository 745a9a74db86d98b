/** One after the other, of everything that a test sees begin or end: what has ended at one has happened before the next. */
let moment = 0
export const nextMoment = () => ++moment

interface Span<State> {
  state: State
  from: number
  /** When the server had acknowledged what ended it. */
  until: number
}

/** What one thing was, when. */
export function createHistory<State>(first: State, from = 0) {
  let latest = first
  const spans: Span<State>[] = [{ state: first, from, until: Number.POSITIVE_INFINITY }]
  return {
    latest: () => latest,
    /**
     * It may be the new state from the beginning of `work` on, the one of before until its end, and while it lasts others
     * that it goes through.
     */
    async change(
      state: State,
      work: () => Promise<void>,
      through: readonly State[] = [],
    ): Promise<void> {
      const before = spans.at(-1)
      const from = nextMoment()
      const passed = through.map((each) => ({ state: each, from, until: Number.POSITIVE_INFINITY }))
      spans.push(...passed, { state, from, until: Number.POSITIVE_INFINITY })
      latest = state
      await work()
      const until = nextMoment()
      for (const span of [before, ...passed]) if (span) span.until = until
    },
    /** All that it can have been for somebody who asked at one moment and had the answer at another. */
    between: (start: number, end: number): State[] =>
      spans.flatMap(({ state, from, until }) => (from <= end && until >= start ? [state] : [])),
  }
}

export type History<State> = ReturnType<typeof createHistory<State>>
