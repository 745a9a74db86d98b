import { bytes, integer, type Row } from '../columns.ts'

/** As much as one read may bring without holding up the event loop for more than a few milliseconds. */
export const SLICE_BYTES = 2 ** 20

/**
 * A value of some megabytes, slice by slice: `read` answers the row with the slice at this place, counted from 1, as
 * `bytes`, and with the whole `size`. Answers the last row with all bytes; nothing where the row is gone.
 */
export async function readSlices(
  read: (place: number) => Promise<Row[]>,
): Promise<{ row: Row; bytes: Uint8Array } | undefined> {
  const slices: Uint8Array[] = []
  for (let start = 0; ; start += SLICE_BYTES) {
    const [row] = await read(start + 1)
    if (!row) return undefined
    slices.push(bytes(row, 'bytes'))
    if (start + SLICE_BYTES >= integer(row, 'size')) return { row, bytes: Buffer.concat(slices) }
  }
}
