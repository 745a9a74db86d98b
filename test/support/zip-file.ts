import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  name: string
  content: Uint8Array | string
  /** What the entry claims to unpack to, where that is a lie. */
  claimedSize?: number
}

const DEFLATED = 8
const NOTHING = deflateRawSync('')

/** A ZIP file as any program writes it, or one that lies. */
export function zipFile(entries: readonly ZipEntry[]): Buffer<ArrayBuffer> {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, claimedSize } of entries) {
    const bytes = Buffer.from(content)
    const packed = bytes.length === 0 ? NOTHING : deflateRawSync(bytes, { level: 1 })
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(DEFLATED, 4)
    facts.writeUInt32LE(crc32(bytes), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(claimedSize ?? bytes.length, 18)
    facts.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\0'), facts, rest, Buffer.from(name))
    locals.push(local)
    offset += local.length
  }
  const listing = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(listing.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, listing, end])
}
