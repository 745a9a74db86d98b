/**
 * A way past a chain of generators, from its source to its reader: a batch goes along it synchronously, without a
 * promise at each generator. Open only while the reader waits for the chain, so that nothing is overtaken and a slow
 * reader still holds the source up; and the source goes along it only while it is asked for the next batch itself.
 */
export interface Shortcut<Event> {
  readonly isOpen: boolean
  take(batch: readonly Event[]): void
}

/** The same way, with what a generator on the chain makes of each batch. */
export function alongside<From, To>(
  shortcut: Shortcut<To> | undefined,
  convert: (batch: readonly From[]) => readonly To[],
): Shortcut<From> | undefined {
  if (!shortcut) return undefined
  return {
    get isOpen() {
      return shortcut.isOpen
    },
    take(batch) {
      const converted = convert(batch)
      if (converted.length > 0) shortcut.take(converted)
    },
  }
}
