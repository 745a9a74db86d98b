import { Parser } from 'htmlparser2'

interface XmlHandler {
  open?(name: string, attributes: Record<string, string>): void
  text?(text: string): void
  close?(name: string): void
}

/** Parses XML from beginning to end. Only the five predefined entities and character references are resolved. */
export function readXml(xml: string, { open, text, close }: XmlHandler): void {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => open?.(name, attributes),
      ontext: (data) => text?.(data),
      onclosetag: (name) => close?.(name),
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.end(xml)
}
