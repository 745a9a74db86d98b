import { Parser } from 'htmlparser2'
import { nestedTooDeeply } from '../extracted.ts'

/** Real files nest up to a few dozen levels. The parser's time for an element grows with its depth. */
const MAX_DEPTH = 1_000

/** `start` and `end` are the offsets of the tag in the XML; `end` is exclusive. */
interface XmlHandler {
  open?(name: string, attributes: Record<string, string>, start: number, end: number): void
  text?(text: string): void
  /** An element that closes itself has the offsets of its only tag. */
  close?(name: string, start: number, end: number): void
}

/**
 * Parses XML from beginning to end. Only the five predefined entities and character references are resolved. Throws
 * `file_too_complex` if elements nest too deeply.
 */
export function readXml(xml: string, { open, text, close }: XmlHandler): void {
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth++
        if (depth > MAX_DEPTH) throw nestedTooDeeply()
        open?.(name, attributes, parser.startIndex, parser.endIndex + 1)
      },
      ontext: (data) => text?.(data),
      onclosetag(name) {
        depth--
        close?.(name, parser.startIndex, parser.endIndex + 1)
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.end(xml)
}

/** A name without the prefix of its namespace. */
export const localName = (qualified: string) => qualified.slice(qualified.indexOf(':') + 1)

/** A text as it is written in XML and HTML. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

/** The value of a text in XML, of which only the five predefined entities are resolved. */
export function unescapeXml(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ENTITIES[name] ?? '')
}
