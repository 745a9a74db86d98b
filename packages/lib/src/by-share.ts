/**
 * Entries, given the oldest first, in the order in which to give them up: first those of the owner that has the most,
 * so that no owner displaces the entries of others.
 */
export function byShare<Entry>(
  entries: Iterable<Entry>,
  ownerOf: (entry: Entry) => string | undefined,
): Entry[] {
  const shares = [...Map.groupBy(entries, ownerOf).values()]
  return shares.toSorted((one, other) => other.length - one.length).flat()
}
