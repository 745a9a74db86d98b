import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

export interface ArchiveEntry {
  path: string
  content?: string | Uint8Array
  /** Where a symbolic link leads. */
  link?: string
  /** A size that the archive tells instead of the real one. */
  claims?: number
  /** Bits of the entry's head. */
  flags?: number
}

const bytesOf = (content: string | Uint8Array = '') => Buffer.from(content)

/** A zip archive of exactly these entries, whatever a decent program would say to them. */
export function zipOf(entries: readonly ArchiveEntry[]): Uint8Array {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const { path, content, link, claims, flags = 0x800 } of entries) {
    const bytes = bytesOf(link ?? content)
    const packed = deflateRawSync(bytes)
    const name = Buffer.from(path)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(claims ?? bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, name, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(((link === undefined ? 0o100644 : 0o120777) << 16) >>> 0, 6)
    tail.writeUInt32LE(offset, 10)
    const version = Buffer.from([20, 3])
    centrals.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), version, common, tail, name]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(centrals)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.length, 4)
  end.writeUInt16LE(entries.length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, central, Buffer.from('PK\u0005\u0006'), end])
}

export interface TarOptions {
  kind?: string
}

/** A gzipped tar archive of exactly these entries. */
export function tarOf(entries: readonly (ArchiveEntry & TarOptions)[]): Uint8Array {
  const blocks = entries.flatMap(({ path, content, link, claims, kind }) => {
    const bytes = bytesOf(content)
    const head = Buffer.alloc(512)
    head.write(path, 0, 100)
    head.write('0000644\0', 100)
    head.write((claims ?? bytes.length).toString(8).padStart(11, '0'), 124)
    head.write(kind ?? (link === undefined ? '0' : '2'), 156)
    head.write(link ?? '', 157, 100)
    head.write('ustar\u000000', 257)
    head.write('        ', 148)
    const sum = head.reduce((total, byte) => total + byte, 0)
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512)
    return [head, bytes, padding]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}
