export interface Size {
  width: number
  height: number
}

/** The size of a PNG, BMP, WebP or JPEG by its header, before anything is decoded. Throws if it has none. */
export function sizeOf(bytes: Buffer, kind: 'png' | 'bmp' | 'webp' | 'jpeg'): Size {
  switch (kind) {
    case 'png':
      return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    case 'bmp':
      return { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) }
    case 'webp':
      return webpSize(bytes)
    case 'jpeg':
      return jpegSize(bytes)
  }
}

function webpSize(bytes: Buffer): Size {
  const form = bytes.toString('latin1', 12, 16)
  if (form === 'VP8X')
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (form === 'VP8 ') {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  }
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** The frame header of a JPEG follows segments of any length. Throws if there is none. */
export function jpegSize(bytes: Buffer): Size {
  for (let at = 2; at < bytes.length; at += 2 + lengthOf(bytes, at)) {
    // A marker may be preceded by any number of fill bytes.
    while (bytes[at + 1] === 0xff) at++
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
  }
  throw new Error('The JPEG has no frame')
}

/** The length of a segment without its marker; some consist of the marker alone. */
function lengthOf(bytes: Buffer, at: number): number {
  const marker = bytes[at + 1] ?? 0
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9) ? 0 : bytes.readUInt16BE(at + 2)
}
