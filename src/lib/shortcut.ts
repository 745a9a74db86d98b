/**
 * A bypass around a chain of generators, from its source to its reader: items pass synchronously, without a promise
 * per generator. It is open only while the reader waits for the chain, so nothing is overtaken and a slow reader still
 * holds back the source; and the source uses it only while it is itself asked for its next batch.
 */
export interface Shortcut<Item> {
  isOpen(): boolean
  take(item: Item): void
}

/** The same bypass for a source whose items a generator on the chain converts; undefined results are dropped. */
export function alongside<From, To>(
  shortcut: Shortcut<To> | undefined,
  convert: (item: From) => To | undefined,
): Shortcut<From> | undefined {
  if (!shortcut) return undefined
  return {
    isOpen: shortcut.isOpen,
    take(item) {
      const converted = convert(item)
      if (converted !== undefined) shortcut.take(converted)
    },
  }
}
