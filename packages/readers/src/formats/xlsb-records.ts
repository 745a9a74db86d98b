// Records of binary workbooks: [MS-XLSB], 2.1.4.
const SHEET = 156
const HEADER_FOOTER = 479
/** Bits of each byte of a record's type and length that count; the highest says whether another byte follows. */
const BITS = 7
const MASK = 0x7f

/** The names of the sheets of `xl/workbook.bin`, with the relationship IDs of their parts. */
export function sheetsInBinary(workbook: Buffer): { name: string; id: string }[] {
  return recordsOf(workbook, SHEET).map((data) => {
    const [id = '', name = ''] = textsIn(data, 8, 2)
    return { id, name }
  })
}

/** The codes of the headers and footers of a sheet. */
export function furnitureInBinary(sheet: Buffer): { headers: string[]; footers: string[] } {
  const texts = recordsOf(sheet, HEADER_FOOTER).flatMap((data) => textsIn(data, 2, 6))
  return {
    headers: texts.filter((_, place) => place % 2 === 0),
    footers: texts.filter((_, place) => place % 2 === 1),
  }
}

function recordsOf(part: Buffer, recordType: number): Buffer[] {
  const records: Buffer[] = []
  let at = 0
  const number = (maximumBytes: number) => {
    let value = 0
    for (let byte = 0; byte < maximumBytes; byte++) {
      const next = part[at++] ?? 0
      value |= (next & MASK) << (BITS * byte)
      if (next <= MASK) break
    }
    return value
  }
  while (at < part.length) {
    const low = part[at] ?? 0
    // The highest bit of the first byte belongs to the type.
    const type = low > MASK ? low | ((part[at + 1] ?? 0) << 8) : low
    at += low > MASK ? 2 : 1
    const length = number(4)
    if (typeOf(type) === recordType) records.push(part.subarray(at, at + length))
    at += length
  }
  return records
}

const typeOf = (type: number) => (type & MASK) | ((type >> 8) << BITS)

/** Texts in UTF-16 after their lengths; a length of -1 is none. */
function textsIn(data: Buffer, start: number, count: number): string[] {
  const texts: string[] = []
  let at = start
  while (texts.length < count && at + 4 <= data.length) {
    const length = Math.max(data.readInt32LE(at), 0)
    texts.push(data.toString('utf16le', at + 4, at + 4 + length * 2))
    at += 4 + length * 2
  }
  return texts
}
