/** Adds to what a search found, for a reader or a model, which words it took for typing errors. */
export function tellCorrections(
  found: string,
  corrections: readonly { typed: string; corrected: string }[],
): string {
  const lines = corrections.map(
    ({ typed, corrected }) => `“${typed}” was not found: searched for “${corrected}”.`,
  )
  return [found, ...lines].join('\n')
}
