import { hash } from 'node:crypto'
import { BOF, recordsOf, SHEET } from './formats/xls-records.ts'
import { PASSWORD } from './write-protection.ts'

// [MS-XLS], 2.2.10: what of a workbook stream is encrypted, and [MS-OFFCRYPTO], 2.3.6: how.
const FILE_PASS = 0x2f
/** Records that stay in the clear: besides these, the places of sheets. */
const CLEAR = new Set([BOF, FILE_PASS, 0xe1, 0x138, 0x194, 0x195, 0x196])
/** A record that readers skip: Mms. */
const SKIPPED = 0xc1
const BLOCK_BYTES = 1_024
const RC4 = 0x0001_0001

/** The stream of a workbook that is only protected against changes, in the clear; undefined if it has another password. */
export function openStream(stream: Buffer): Buffer | undefined {
  const records = [...recordsOf(stream)]
  const pass = records.find(({ type }) => type === FILE_PASS)
  const { data = Buffer.alloc(0) } = pass ?? {}
  // RC4 of the first version; all else is rare.
  if (!pass || data.length < 54 || data.readUInt32LE(0) !== RC4) return undefined
  const key = keyOf(data.subarray(6, 22))
  const verify = keystream(key, 0, 32)
  const opened = Buffer.from(
    data.subarray(22, 54).map((byte, place) => byte ^ (verify[place] ?? 0)),
  )
  if (!md5(opened.subarray(0, 16)).equals(opened.subarray(16))) return undefined
  const plain = Buffer.from(stream)
  const maskAt = createMask(key)
  for (const { type, at, end } of records.filter((record) => !CLEAR.has(record.type))) {
    for (let place = at + (type === SHEET ? 8 : 4); place < end; place++) {
      plain[place] = (plain[place] ?? 0) ^ maskAt(place)
    }
  }
  plain.writeUInt16LE(SKIPPED, pass.at)
  return plain
}

/** The byte of the cipher at each place of the stream, which are asked for in their order. */
function createMask(key: Buffer) {
  let block = -1
  let mask: Buffer = Buffer.alloc(0)
  return (place: number): number => {
    const next = Math.floor(place / BLOCK_BYTES)
    if (next !== block) mask = keystream(key, next, BLOCK_BYTES)
    block = next
    return mask[place % BLOCK_BYTES] ?? 0
  }
}

const md5 = (bytes: Buffer) => hash('md5', bytes, 'buffer')

function keyOf(salt: Buffer): Buffer {
  const short = md5(PASSWORD).subarray(0, 5)
  const repeated = Array.from({ length: 16 }, () => [short, salt]).flat()
  return md5(Buffer.concat(repeated)).subarray(0, 5)
}

/** The bytes of RC4 for a block of the stream. OpenSSL no longer has this cipher. */
function keystream(key: Buffer, block: number, length: number): Buffer {
  const number = Buffer.alloc(4)
  number.writeUInt32LE(block)
  const blockKey = md5(Buffer.concat([key, number]))
  const state = Uint8Array.from({ length: 256 }, (_, place) => place)
  const at = (place: number) => state[place & 255] ?? 0
  const swap = (one: number, other: number) => {
    const value = at(one)
    state[one & 255] = at(other)
    state[other & 255] = value
  }
  let j = 0
  for (let i = 0; i < 256; i++) {
    j = (j + at(i) + (blockKey[i % blockKey.length] ?? 0)) & 255
    swap(i, j)
  }
  j = 0
  return Buffer.from(
    Array.from({ length }, (_, n) => {
      const i = (n + 1) & 255
      j = (j + at(i)) & 255
      swap(i, j)
      return at(at(i) + at(j))
    }),
  )
}
