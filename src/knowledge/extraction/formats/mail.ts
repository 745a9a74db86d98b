import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import {
  createBoundedText,
  type Extracted,
  ExtractionError,
  type SourceFile,
} from '../extracted.ts'
import { extractHtml } from './html.ts'

const MAX_ATTACHMENTS = 100
/** A mail may contain a mail that contains a mail, and so on. */
const MAX_NESTING = 20

type Extract = (file: SourceFile) => Promise<Extracted>

/** The headers, the body, and the attachments, with their texts if `extract` can read them. */
export async function extractMail(bytes: Buffer, extract: Extract): Promise<Extracted> {
  const mail = await PostalMime.parse(bytes, { maxNestingDepth: MAX_NESTING })
  const text = createBoundedText()
  text.add(`# ${mail.subject ?? 'Mail without a subject'}\n\n${headersOf(mail)}\n`)
  text.add(`${bodyOf(mail)}\n\n`)
  for (const attachment of mail.attachments.slice(0, MAX_ATTACHMENTS)) {
    text.add(await attachmentToText(attachment, extract))
  }
  return { text: text.toString() }
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

function bodyOf({ text, html }: Email): string {
  if (text?.trim()) return text.trim()
  return html ? extractHtml(html).text : ''
}

async function attachmentToText(attachment: Attachment, extract: Extract): Promise<string> {
  const name = attachment.filename ?? 'without a name'
  const bytes = toBytes(attachment.content)
  const heading = `## Attachment: ${name}\n\n`
  if (attachment.related) return ''
  try {
    const { text } = await extract({ name, mediaType: attachment.mimeType, bytes })
    return `${heading}${text}\n\n`
  } catch (error) {
    if (!(error instanceof ExtractionError)) throw error
    return `${heading}(${attachment.mimeType}, ${bytes.length} bytes. ${error.message}.)\n\n`
  }
}

function toBytes(content: Attachment['content']): Buffer {
  if (typeof content === 'string') return Buffer.from(content)
  return content instanceof ArrayBuffer ? Buffer.from(content) : Buffer.from(content)
}
