import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import { uncertainEncoding } from '../decode-text.ts'
import { createBoundedText, type Extracted, type ReadingWarning } from '../extracted.ts'
import { attachmentToText, MAX_WITHIN, type ReadWithin } from '../within.ts'
import { extractHtml } from './html.ts'
import { createShowPicture, dataOf, type SeePicture, type ShowPicture } from './image.ts'
import { withCharsets } from './mail-charsets.ts'

/** A mail may contain a mail that contains a mail, and so on. */
const MAX_NESTING = 20

interface Readers {
  extract: ReadWithin
  see: SeePicture
}

/**
 * The headers, the body, what `see` says for images in it, and the attachments, with their texts if `extract` can read
 * them.
 */
export async function extractMail(bytes: Buffer, { extract, see }: Readers): Promise<Extracted> {
  const warnings: ReadingWarning[] = []
  const named = await withCharsets(bytes, (guess) => warnings.push(uncertainEncoding(guess)))
  // A mail within it is read as one, under its own head, whether it was attached or forwarded in the text.
  const options = { maxNestingDepth: MAX_NESTING, forceRfc822Attachments: true }
  const mail = await PostalMime.parse(named, options)
  const attachments = mail.attachments.slice(0, MAX_WITHIN)
  const inline = inlineIn(attachments)
  const show = createShowPicture(see, (source) => inline.get(source) ?? dataOf(source))
  const text = createBoundedText()
  text.add(`# ${mail.subject ?? 'Mail without a subject'}\n\n${headersOf(mail)}\n`)
  text.add(`${await bodyOf(mail, show)}\n\n`)
  for (const source of inline.keys()) {
    const picture = await show(source)
    if (picture !== '') text.add(`${picture}\n\n`)
  }
  const files = attachments.filter((one) => !one.related && !isOfPage(one) && !isSignature(one))
  for (const [index, attachment] of files.entries()) {
    const { filename, mimeType: mediaType, content } = attachment
    const name = filename ?? (mediaType === MAIL ? 'message.eml' : 'without a name')
    const file = { name, mediaType, bytes: toBytes(content) }
    text.add(await attachmentToText(file, index + 1, extract))
  }
  return { text: text.toString(), ...(warnings.length > 0 && { warnings: warnings.slice(0, 1) }) }
}

/** Whether a page that was saved as a mail has it only to look as it does. */
const isOfPage = ({ filename, disposition, mimeType }: Attachment) =>
  filename === null && disposition === null && /^text\/css$|javascript|font/.test(mimeType)

const MAIL = 'message/rfc822'

/** Nobody reads what a program needs to check a signature. */
const isSignature = ({ mimeType }: Attachment) =>
  /^application\/(?:pgp|(?:x-)?pkcs7)-signature$/.test(mimeType)

/** Where a mail of a mailbox begins, behind an empty line. */
const NEXT_MAIL = Buffer.from('\nFrom ')

/** The mails of a mailbox, each a page. */
export async function extractMailbox(bytes: Buffer, { see, extract }: Readers): Promise<Extracted> {
  const text = createBoundedText()
  const pageStarts: number[] = []
  const warnings: ReadingWarning[] = []
  let files = 0
  for (const mail of mailsIn(bytes)) {
    pageStarts.push(text.length)
    const page = pageStarts.length
    const { text: words, warnings: own = [] } = await extractMail(mail, {
      see: (open, place) => see(open, { ...place, page }),
      extract: (file) => extract(file, ++files),
    })
    text.add(`${words.trimEnd()}\n\n`)
    warnings.push(...own.slice(0, 1 - warnings.length))
  }
  return { text: text.toString(), pageStarts, ...(warnings.length > 0 && { warnings }) }
}

function* mailsIn(bytes: Buffer): Generator<Buffer> {
  let start = 0
  for (let at = 0; at >= 0; ) {
    at = bytes.indexOf(NEXT_MAIL, at + 1)
    const isBehindEmpty = at > 0 && /\n\r?$/.test(bytes.toString('latin1', Math.max(at - 2, 0), at))
    if (at >= 0 && !isBehindEmpty) continue
    const mail = bytes.subarray(start, at < 0 ? bytes.length : at + 1)
    if (mail.length > 0) yield unquoted(mail)
    start = at + 1
  }
}

/** Without the sign that keeps `From` at the beginning of a line from being taken for the next mail. */
function unquoted(mail: Buffer): Buffer {
  if (!mail.includes('\n>From ')) return mail
  return Buffer.from(mail.toString('latin1').replaceAll(/^>(>*From )/gm, '$1'), 'latin1')
}

/** The pictures of the body, by the source that the body names. */
function inlineIn(attachments: readonly Attachment[]): Map<string, () => Buffer> {
  const inline = new Map<string, () => Buffer>()
  for (const { related, contentId = '', content } of attachments) {
    if (related) inline.set(`cid:${contentId.replaceAll(/[<>]/g, '')}`, () => toBytes(content))
  }
  return inline
}

function headersOf({ from, to = [], cc = [], date }: Email): string {
  const people = Object.entries({ From: from ? [from] : [], To: to, Cc: cc })
  const lines = people
    .filter(([, addresses]) => addresses.length > 0)
    .map(([name, addresses]) => `${name}: ${addresses.map(toName).join(', ')}\n`)
  return `${lines.join('')}${date ? `Date: ${date}\n` : ''}`
}

function toName({ name, address }: Address): string {
  return name && address ? `${name} <${address}>` : name || (address ?? '')
}

/** The page says more than the text by this factor, or lacks this share of its words, if the text is only a stub. */
const MORE_WORDS = 2
const MISSING = 0.5
/** A stub has no more words. */
const STUB_WORDS = 40

/** The text, unless it only stands in for the page; both, if each says something else. */
async function bodyOf({ text = '', html }: Email, show: ShowPicture): Promise<string> {
  const plain = text.trim()
  const words = wordsIn(plain)
  if (!html) return plain
  const page = words.length === 0 ? [] : wordsIn((await extractHtml(html)).text)
  const isWhole = page.length <= words.length * MORE_WORDS && lacking(words, page) <= MISSING
  if (isWhole && words.length > 0) return plain
  const shown = (await extractHtml(html, show)).text
  const isStub = words.length <= STUB_WORDS || lacking(page, words) <= MISSING
  return isStub ? shown : `${plain}\n\n${shown}`
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** The share of the other words that these lack. */
function lacking(words: readonly string[], others: readonly string[]): number {
  const known = new Set(words)
  const all = [...new Set(others)]
  return all.filter((word) => !known.has(word)).length / Math.max(all.length, 1)
}

function toBytes(content: Attachment['content']): Buffer {
  if (typeof content === 'string') return Buffer.from(content)
  return content instanceof ArrayBuffer ? Buffer.from(content) : Buffer.from(content)
}
