import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const MOST_TOTAL_BYTES = 5_000_000_000

/** Removes the oldest tables and indexes where all of them take too much room; they can be made again. */
export async function makeRoom(directory: string, most = MOST_TOTAL_BYTES): Promise<void> {
  const names = (await readdir(directory)).filter((name) => /\.(?:duckdb|sqlite)$/.test(name))
  const files = await Promise.all(
    names.map(async (name) => ({ name, ...(await stat(join(directory, name))) })),
  )
  let total = files.reduce((sum, { size }) => sum + size, 0)
  for (const { name, size } of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= most) return
    await rm(join(directory, name), { force: true })
    total -= size
  }
}
