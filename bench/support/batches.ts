/** The next values of an iterator in so many lists of one length, one list for each round. */
export function batches<Value>(values: Iterator<Value>, size: number, count: number): Value[][] {
  // `take` closes what it takes from, so everything is taken at once.
  const all = Iterator.from(values)
    .take(size * count)
    .toArray()
  return Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size))
}
