const MARKS: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
  // No mark, but the first letter is one of ASCII.
  ['utf-16le', [-1, 0]],
  ['utf-16be', [0, -1]],
]

/** Whether bytes are marked as UTF-16. */
export const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

/**
 * The text of a file that somebody wrote in an editor, without the byte order mark that some put first: UTF-8, UTF-16 as
 * `>` of PowerShell writes it, or the Windows code page of Western Europe.
 */
export function writtenText(bytes: Uint8Array): string {
  const mark = MARKS.find(([, mark]) =>
    mark.every((byte, at) => (byte === -1 ? (bytes[at] ?? 0) > 0 : bytes[at] === byte)),
  )
  if (mark) return new TextDecoder(mark[0]).decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
