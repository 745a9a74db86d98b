import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Reads a file of a package; throws an Error if it does not match its checksum there (`SHA256SUMS`). */
export async function readChecked(directory: string, name: string): Promise<Buffer<ArrayBuffer>> {
  const [bytes, sums] = await Promise.all([
    readFile(join(directory, name)),
    readFile(join(directory, 'SHA256SUMS'), 'utf8'),
  ])
  const digest = createHash('sha256').update(bytes).digest('hex')
  if (sums.includes(`${digest}  ${name}\n`)) return bytes
  throw new Error(`${name} does not match SHA256SUMS: install the package again`)
}
