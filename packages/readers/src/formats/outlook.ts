import { randomUUID } from 'node:crypto'
import { ExtractionError, nestedTooDeeply, oneLine } from '../extracted.ts'
import { MAX_DEPTH, MAX_WITHIN } from '../within.ts'
import { decompressRtf, pageWithin } from './outlook-rtf.ts'
import { extractRtf } from './rtf.ts'
import { encodingOfCodePage } from './rtf-code-pages.ts'

// Messages of Outlook: [MS-OXMSG] and the properties of [MS-OXPROPS].

const SUBJECT = '0037'
const [SENDER, SENDER_ADDRESS, SENT_FOR] = ['0C1A', '5D01', '0042']
const [DISPLAY_TO, DISPLAY_CC] = ['0E04', '0E03']
const [BODY, HTML, RICH_TEXT] = ['1000', '1013', '1009']
const [DATA, LONG_NAME, SHORT_NAME, MEDIA_TYPE, CONTENT_ID] = [
  '3701',
  '3707',
  '3704',
  '370E',
  '3712',
]
const [SENT_AT, RECEIVED_AT, CODE_PAGE] = [0x0039_0040, 0x0e06_0040, 0x3ffd_0003]
/** Where the properties of fixed length begin, in a file and in a message within another. */
const [FILE_HEADER, WITHIN_HEADER] = [32, 24]
const PROPERTY_BYTES = 16
/** Between the beginning of time in Windows and in Unix, in milliseconds. */
const EPOCH = 11_644_473_600_000

/** The contents of the file by their paths. */
type Streams = ReadonlyMap<string, Buffer>

/** The library's view of a container, in which each path has an entry. */
interface Container {
  FullPaths: string[]
  FileIndex: { content?: Uint8Array }[]
}

/** Writes a message as a mail. Messages within it become mails within the mail. */
export async function outlookToMail(bytes: Buffer): Promise<Buffer> {
  const { CFB } = await import('@e965/xlsx')
  const container: Container = CFB.read(bytes, { type: 'buffer' })
  const streams = new Map(
    container.FullPaths.map((path, place) => [
      path.slice(path.indexOf('/') + 1),
      Buffer.from(container.FileIndex[place]?.content ?? []),
    ]),
  )
  if (!streams.has('__properties_version1.0')) {
    throw new ExtractionError('damaged_file', 'The message is damaged or incomplete')
  }
  return Buffer.from(mailOf(streams, '', 0).join('\r\n'))
}

function mailOf(streams: Streams, folder: string, depth: number): string[] {
  if (depth > MAX_DEPTH) throw nestedTooDeeply()
  const header = depth === 0 ? FILE_HEADER : WITHIN_HEADER
  const properties = fixedProperties(streams.get(`${folder}__properties_version1.0`), header)
  const codePage = properties.get(CODE_PAGE)?.readUInt32LE(0) ?? 0
  const encoding = encodingOfCodePage(codePage) ?? 'windows-1252'
  const textOf = (property: string, at = folder) => readText(streams, at, property, encoding)
  const sender = oneLine(textOf(SENDER) || textOf(SENT_FOR))
  const address = oneLine(textOf(SENDER_ADDRESS))
  const body = bodyIn(streams, folder, textOf)
  const boundary = randomUUID()
  const date = properties.get(SENT_AT) ?? properties.get(RECEIVED_AT)
  const parts = [
    ...alternatives(body),
    ...attachmentsIn(streams, folder)
      .slice(0, MAX_WITHIN)
      .map((at) => attachment(streams, at, textOf, depth)),
  ]
  return [
    ...field('Subject', oneLine(textOf(SUBJECT))),
    ...field('To', namesIn(textOf(DISPLAY_TO))),
    ...field('Cc', namesIn(textOf(DISPLAY_CC))),
    ...(sender + address === '' ? [] : [`From: ${quoted(sender)} <${address}>`]),
    ...(date ? [`Date: ${timeOf(date)}`] : []),
    `Content-Type: multipart/related; boundary="${boundary}"`,
    '',
    ...parts.flatMap((part) => [`--${boundary}`, ...part]),
    `--${boundary}--`,
    '',
  ]
}

interface Body {
  plain: Buffer
  html: Buffer
  /** That of the page, if it is known. */
  charset?: string
}

/** The text and the page of a message; where it has neither, those of its rich text. */
function bodyIn(streams: Streams, folder: string, textOf: (property: string) => string): Body {
  const plain = textOf(BODY)
  const html = streams.get(`${folder}__substg1.0_${HTML}0102`) ?? Buffer.from(textOf(HTML))
  const packed = streams.get(`${folder}__substg1.0_${RICH_TEXT}0102`)
  if (plain.trim() !== '' || html.length > 0 || !packed) return { plain: Buffer.from(plain), html }
  const rtf = decompressRtf(packed)
  const page = pageWithin(rtf)
  return page === undefined
    ? { plain: Buffer.from(extractRtf(rtf).text), html }
    : { plain: html, html: Buffer.from(page), charset: 'utf-8' }
}

const field = (name: string, value: string) => (value === '' ? [] : [`${name}: ${value}`])

/** Outlook separates names with semicolons; a name may have a comma, which separates those of a mail. */
const namesIn = (list: string) =>
  oneLine(list)
    .split(';')
    .map((name) => name.trim())
    .filter(Boolean)
    .map(quoted)
    .join(', ')

const quoted = (name: string) => `"${name.replaceAll(/["\\]/g, '')}"`

function alternatives({ plain, html, charset }: Body): string[][] {
  const page = `Content-Type: text/html${charset === undefined ? '' : `; charset=${charset}`}`
  const boundary = randomUUID()
  const texts = [
    ...(plain.length > 0 ? [['Content-Type: text/plain; charset=utf-8', ...coded(plain)]] : []),
    ...(html.length > 0 ? [[page, ...coded(html)]] : []),
  ]
  if (texts.length === 0) return []
  const parts = texts.flatMap((text) => [`--${boundary}`, ...text])
  const head = `Content-Type: multipart/alternative; boundary="${boundary}"`
  return [[head, '', ...parts, `--${boundary}--`]]
}

/** The folders of the attachments of a message. */
const attachmentsIn = (streams: Streams, folder: string) =>
  [...streams.keys()].filter(
    (path) =>
      path.startsWith(`${folder}__attach_version1.0_#`) &&
      path.indexOf('/', folder.length) === path.length - 1,
  )

function attachment(
  streams: Streams,
  at: string,
  textOf: (property: string, at?: string) => string,
  depth: number,
): string[] {
  const inner = `${at}__substg1.0_${DATA}000D/`
  if (streams.has(`${inner}__properties_version1.0`)) {
    const subject = oneLine(textOf(SUBJECT, inner))
    return [
      'Content-Type: message/rfc822',
      disposition(`${subject || 'message'}.eml`),
      '',
      ...mailOf(streams, inner, depth + 1),
    ]
  }
  const name = oneLine(textOf(LONG_NAME, at) || textOf(SHORT_NAME, at))
  const id = textOf(CONTENT_ID, at).trim()
  const type = /^[\w.+-]+\/[\w.+-]+$/.exec(textOf(MEDIA_TYPE, at))?.[0]
  return [
    `Content-Type: ${type ?? 'application/octet-stream'}`,
    ...(name === '' ? [] : [disposition(name)]),
    ...(/^\S+$/.test(id) ? [`Content-ID: <${id}>`] : []),
    ...coded(streams.get(`${at}__substg1.0_${DATA}0102`) ?? Buffer.alloc(0)),
  ]
}

const disposition = (name: string) =>
  `Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(name.toWellFormed())}`

function coded(bytes: Buffer): string[] {
  const lines = bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n')
  return ['Content-Transfer-Encoding: base64', '', lines]
}

function readText(streams: Streams, at: string, property: string, encoding: string): string {
  const wide = streams.get(`${at}__substg1.0_${property}001F`)
  if (wide) return wide.toString('utf16le')
  const narrow = streams.get(`${at}__substg1.0_${property}001E`)
  return narrow ? new TextDecoder(encoding).decode(narrow) : ''
}

/** The values of the properties of fixed length, by their tags. */
function fixedProperties(stream: Buffer = Buffer.alloc(0), header: number): Map<number, Buffer> {
  const values = new Map<number, Buffer>()
  for (let at = header; at + PROPERTY_BYTES <= stream.length; at += PROPERTY_BYTES) {
    values.set(stream.readUInt32LE(at), stream.subarray(at + 8, at + PROPERTY_BYTES))
  }
  return values
}

/** A time as a mail has it; Windows counts tenths of microseconds. */
function timeOf(value: Buffer): string {
  const time = new Date(Number(value.readBigUInt64LE(0) / 10_000n) - EPOCH)
  return Number.isNaN(time.getTime()) ? '' : time.toUTCString()
}
