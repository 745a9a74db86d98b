const MARKS: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
  // No mark, but the first letter is one of ASCII.
  ['utf-16le', [-1, 0]],
  ['utf-16be', [0, -1]],
]

const beginsWith = (bytes: Uint8Array, mark: readonly number[]) =>
  mark.every((byte, at) => (byte === -1 ? (bytes[at] ?? 0) > 0 : bytes[at] === byte))

/** Whether bytes are marked as UTF-16. */
export const isUtf16 = (bytes: Uint8Array): boolean =>
  MARKS.slice(0, 2).some(([, mark]) => beginsWith(bytes, mark))

/**
 * The text of a file that somebody wrote in an editor, without the byte order mark that some put first: UTF-8, UTF-16 as
 * `>` of PowerShell writes it, or the Windows code page of Western Europe.
 */
export function writtenText(bytes: Uint8Array): string {
  const encoding = MARKS.find(([, mark]) => beginsWith(bytes, mark))?.[0]
  if (encoding) return new TextDecoder(encoding).decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
