const BEYOND_LATIN_1 = /[^\0-\xff]/

/** A text beside the JavaScript heap, where its memory is given back at once and not when V8 sees fit. */
export interface PackedText {
  encoding: 'latin1' | 'utf16le'
  bytes: Uint8Array
}

/** Any text, half a surrogate pair included. */
export function packText(text: string): PackedText {
  const encoding = BEYOND_LATIN_1.test(text) ? 'utf16le' : 'latin1'
  return { encoding, bytes: Buffer.from(text, encoding) }
}

/** How many UTF-16 code units it is. */
export function lengthOf({ encoding, bytes }: PackedText): number {
  return encoding === 'latin1' ? bytes.length : bytes.length / 2
}

/** The same with memory of its own, which `takeText` gives back. */
export function ownPacked({ encoding, bytes }: PackedText) {
  return { encoding, bytes: Uint8Array.from(bytes) }
}

/** The text, whose packed memory is gone afterwards. */
export function takeText({ encoding, bytes }: ReturnType<typeof ownPacked>): string {
  const text = Buffer.from(bytes.buffer).toString(encoding)
  bytes.buffer.transfer(0)
  return text
}
