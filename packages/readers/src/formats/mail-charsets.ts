import { isUtf8 } from 'node:buffer'
import { encodingOf, isKnown } from '../decode-text.ts'

/** Bytes of a part from which its encoding is detected. */
const SAMPLE_BYTES = 1_000_000
const LINE_FEED = 0x0a
/** Boundaries of parts within parts. */
const MAX_BOUNDARIES = 1_000
/** Names that say nothing. */
const NO_CHARSET =
  /^(?:|us-ascii|ascii|unknown.*|x-unknown|x-user-defined|default|8bit|binary|ansi.*)$/i

type OnGuess = (encoding: string) => void

/**
 * Rewrites a mail whose letters would be lost: each part of text names the encoding that it has, and headers in 8-bit
 * letters are in UTF-8.
 */
export async function withCharsets(bytes: Buffer, onGuess: OnGuess): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (const { head, body } of partsOf(bytes)) {
    pieces.push(await rewritten(head, body, onGuess), isFlowed(head) ? withFirmQuotes(body) : body)
  }
  return Buffer.concat(pieces)
}

const isFlowed = (head: Buffer) => /;\s*format\s*=\s*"?flowed/i.test(head.toString('latin1'))

/**
 * A space at the end of a line says that the next one goes on with it. The library joins those of quotes, too, with the
 * sign that the next one begins with.
 */
function withFirmQuotes(body: Buffer): Buffer {
  const lines = body.toString('latin1').split('\n')
  const firm = lines.map((line) => {
    return line.startsWith('>') ? trimmedEnd(trimmedEnd(line).replace(/=20$/, '')) : line
  })
  return Buffer.from(firm.join('\n'), 'latin1')
}

/** Without the blanks at the end of a line; a byte like that of a no-break space may belong to a letter. */
function trimmedEnd(line: string): string {
  let end = line.length
  while (end > 0 && ' \t\r'.includes(line[end - 1] ?? '-')) end--
  return line.slice(0, end)
}

interface Part {
  /** Its header lines, with the line before them and the empty one behind them. */
  head: Buffer
  body: Buffer
}

/** Cuts a mail in parts at its boundaries, and at the beginning of each mail within it. */
function* partsOf(bytes: Buffer): Generator<Part> {
  const boundaries = new Set<string>()
  const part = { start: 0, body: undefined as number | undefined }
  const upTo = (end: number): Part => ({
    head: bytes.subarray(part.start, part.body ?? end),
    body: bytes.subarray(part.body ?? end, end),
  })
  /** Returns whether the part is a mail, which begins with headers of its own. */
  const endHead = (end: number): boolean => {
    const { boundary, isMail } = contentTypeOf(bytes.subarray(part.start, end))
    if (boundary !== '' && boundaries.size < MAX_BOUNDARIES) boundaries.add(`--${boundary}`)
    part.body = end
    return isMail
  }
  for (const [start, end] of linesOf(bytes)) {
    if (part.body === undefined) {
      if (!isEmptyLine(bytes, start, end) || !endHead(end)) continue
      yield upTo(end)
      Object.assign(part, { start: end, body: undefined })
    } else if (isMark(bytes, start) && boundaries.has(boundaryIn(bytes, start, end))) {
      yield upTo(start)
      Object.assign(part, { start, body: undefined })
    }
  }
  yield upTo(bytes.length)
}

function* linesOf(bytes: Buffer): Generator<readonly [start: number, end: number]> {
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const end = feed < 0 ? bytes.length : feed + 1
    yield [start, end]
    start = end
  }
}

const isMark = (bytes: Buffer, at: number) => bytes[at] === 0x2d && bytes[at + 1] === 0x2d

const isEmptyLine = (bytes: Buffer, start: number, end: number) =>
  end - start <= 2 && bytes.toString('latin1', start, end).trim() === ''

/** The line of a boundary without what says that it is the last one. */
function boundaryIn(bytes: Buffer, start: number, end: number): string {
  const line = bytes.toString('latin1', start, Math.min(end, start + 200)).trimEnd()
  return line.length > 4 && line.endsWith('--') ? line.slice(0, -2) : line
}

const CONTENT_TYPE = /^content-type[ \t]*:((?:[^\n]*\n[ \t])*[^\n]*)/im
const ENCODING = /^content-transfer-encoding[ \t]*:[ \t]*([\w-]+)/im
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i

function contentTypeOf(head: Buffer) {
  const headers = head.toString('latin1')
  const [, value = ''] = CONTENT_TYPE.exec(headers) ?? []
  const [, quoted, plain = ''] = /boundary\s*=\s*(?:"([^"\n]*)"|([^\s;"]*))/i.exec(value) ?? []
  const type = value.trim().split(/[\s;]/, 1)[0]?.toLowerCase() ?? ''
  const encoding = ENCODING.exec(headers)?.[1]?.toLowerCase() ?? ''
  const isCoded = encoding === 'base64' || encoding === 'quoted-printable'
  const [, quotedCharset, charset = ''] = CHARSET.exec(value) ?? []
  return {
    headers,
    type,
    encoding,
    charset: (quotedCharset ?? charset).trim(),
    boundary: /^multipart\//.test(type) ? (quoted ?? plain) : '',
    isMail: type === 'message/rfc822' && !isCoded,
  }
}

async function rewritten(head: Buffer, body: Buffer, onGuess: OnGuess): Promise<Buffer> {
  const { headers, type, encoding, charset, boundary } = contentTypeOf(head)
  const isText = boundary === '' && (type === '' || type.startsWith('text/'))
  const own = isText ? await charsetOf(bodyBytes(body, encoding), charset, onGuess) : undefined
  if (own === undefined && isUtf8(head)) return head
  const named = own ?? (isKnown(charset) ? charset : undefined)
  const text = isUtf8(head) ? head.toString() : await decoded(head, named)
  return Buffer.from(own === undefined ? text : withCharset(text, own, headers))
}

/** The encoding that a part should name; undefined if what it names, or UTF-8, is right. */
async function charsetOf(
  body: Buffer,
  charset: string,
  onGuess: OnGuess,
): Promise<string | undefined> {
  const isNamed = !NO_CHARSET.test(charset) && isKnown(charset)
  const isUnicode = !isNamed || /^utf-?8$/i.test(charset)
  if (!isUnicode) return undefined
  const encoding = await encodingOf(body, onGuess)
  return encoding === 'utf-8' && (charset === '' || isNamed) ? undefined : encoding
}

async function decoded(head: Buffer, charset: string | undefined): Promise<string> {
  const encoding = charset ?? (await encodingOf(head)) ?? 'windows-1252'
  return new TextDecoder(encoding).decode(head)
}

function withCharset(head: string, charset: string, headers: string): string {
  if (CONTENT_TYPE.test(headers)) {
    return head.replace(CONTENT_TYPE, (line) => {
      const rest = line.replace(CHARSET, '').replace(/(?:;|(?<![;\s]))\s*$/, '')
      return `${rest}; charset="${charset}"${line.endsWith('\r') ? '\r' : ''}`
    })
  }
  const end = /\r?\n$/.exec(head)?.[0] ?? '\r\n'
  return `${head.slice(0, head.length - end.length)}Content-Type: text/plain; charset="${charset}"${end}${end}`
}

function bodyBytes(body: Buffer, encoding: string): Buffer {
  const sample = body.subarray(0, SAMPLE_BYTES)
  if (encoding === 'base64') return Buffer.from(sample.toString('latin1'), 'base64')
  if (encoding !== 'quoted-printable') return sample
  return fromQuotedPrintable(sample.toString('latin1'))
}

/** The bytes of a text in quoted-printable. */
export function fromQuotedPrintable(text: string): Buffer {
  const bytes = text
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([\da-f]{2})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
  return Buffer.from(bytes, 'latin1')
}
