import { furnitureText } from './page-furniture.ts'

// Records of Excel 97 to 2003: [MS-XLS], 2.4.
export const [BOF, SHEET] = [0x809, 0x85]
const [EOF, CONTINUE, TEXT_OBJECT, OBJECT] = [0xa, 0x3c, 0x1b6, 0x5d]
const [HEADER, FOOTER, CHART_TEXT] = [0x14, 0x15, 0x100d]
/** The kind of object that is a comment, which the library reads. */
const COMMENT = 0x19
/** Texts of one sheet. */
const MAX_TEXTS = 10_000

/** What the sheets of a workbook hold besides their cells. */
export interface DrawnTexts {
  textBoxes: string[]
  /** Texts of charts: titles and names. */
  chartTexts: string[]
  header?: string
  footer?: string
}

interface XlsRecord {
  at: number
  end: number
  type: number
  data: Buffer
}

/** The texts that are drawn on the sheets of a workbook stream, by the names of the sheets. */
export function shapeTextsOf(stream: Buffer): Map<string, DrawnTexts> {
  const names = new Map<number, string>()
  const sheets = new Map<string, DrawnTexts>()
  let sheet: DrawnTexts | undefined
  let depth = 0
  let objectKind = 0
  /** Charts within a sheet have headers and footers of their own. */
  const setOfSheet = (furniture: Partial<DrawnTexts>) => {
    if (sheet && depth === 1) Object.assign(sheet, furniture)
  }
  const records = [...recordsOf(stream)]
  const readers = new Map<number, (record: XlsRecord, place: number) => void>([
    [SHEET, ({ data }) => names.set(data.readUInt32LE(0), textOf(data, data[6] ?? 0, 7))],
    [
      BOF,
      ({ at }) => {
        depth++
        if (depth > 1) return
        sheet = { textBoxes: [], chartTexts: [] }
        const name = names.get(at)
        if (name !== undefined) sheets.set(name, sheet)
      },
    ],
    [EOF, () => (depth = Math.max(0, depth - 1))],
    [OBJECT, ({ data }) => (objectKind = data.length > 5 ? data.readUInt16LE(4) : 0)],
    [
      TEXT_OBJECT,
      ({ data }, place) => {
        const text = continuedText(records, place + 1, data.length > 11 ? data.readUInt16LE(10) : 0)
        if (objectKind !== COMMENT && text.trim() !== '') add(sheet?.textBoxes, text)
      },
    ],
    [CHART_TEXT, ({ data }) => add(sheet?.chartTexts, textOf(data, data[2] ?? 0, 3))],
    [HEADER, ({ data }) => setOfSheet({ header: longText(data) })],
    [FOOTER, ({ data }) => setOfSheet({ footer: longText(data) })],
  ])
  for (const [place, record] of records.entries()) readers.get(record.type)?.(record, place)
  return sheets
}

function add(texts: string[] | undefined, text: string): void {
  if (texts && texts.length < MAX_TEXTS && text !== '') texts.push(text)
}

/** The records of a workbook stream in their order. */
export function* recordsOf(stream: Buffer): Generator<XlsRecord> {
  for (let at = 0; at + 4 <= stream.length; ) {
    const end = Math.min(at + 4 + stream.readUInt16LE(at + 2), stream.length)
    yield { at, end, type: stream.readUInt16LE(at), data: stream.subarray(at + 4, end) }
    at = end
  }
}

/** A text whose flags stand at an offset: bytes of Latin-1, or UTF-16. */
function textOf(data: Buffer, characters: number, flags: number): string {
  const isWide = ((data[flags] ?? 0) & 1) === 1
  const bytes = data.subarray(flags + 1, flags + 1 + characters * (isWide ? 2 : 1))
  return bytes.toString(isWide ? 'utf16le' : 'latin1')
}

const longText = (data: Buffer) =>
  data.length < 3 ? '' : furnitureText(textOf(data, data.readUInt16LE(0), 2))

/** The text of an object stands in the records that continue it, each with flags of its own. */
function continuedText(records: readonly XlsRecord[], start: number, characters: number): string {
  let text = ''
  for (let place = start; text.length < characters; place++) {
    const record = records[place]
    if (record?.type !== CONTINUE || record.data.length < 2) break
    text += textOf(record.data, characters - text.length, 0)
  }
  return text.replaceAll(/\r\n?/g, '\n')
}
