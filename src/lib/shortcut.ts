/**
 * A way past a chain of generators, from its source to its reader: what goes along it does so synchronously, without a
 * promise at each generator. Open only while the reader waits for the chain, so that nothing is overtaken and a slow
 * reader still holds the source up; and the source goes along it only while it is asked for the next batch itself.
 */
export interface Shortcut<Item> {
  isOpen(): boolean
  take(item: Item): void
}

/** The same way, with what a generator on the chain makes of each item; nothing goes on where it makes nothing. */
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
