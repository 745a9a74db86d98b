import { Refusal } from '@agent-server/lib/refusal.ts'
import { refuseBadZip } from '@agent-server/readers'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { type FormValues, fillPlaceholders, type OpenedForm, placeholdersIn } from './form.ts'

const NOT_ONE = 'The file is not a Word document'
/** Maximum bytes of one unpacked part of the archive. */
const MAX_PART_BYTES = 50_000_000
const TEXTS = /^word\/(?:document|header\d*|footer\d*)\.xml$/
const PARAGRAPH = /<w:p[ >][\s\S]*?<\/w:p>/g
const RUN_TEXT = /(<w:t(?: [^>]*)?>)([^<]*)(<\/w:t>)/g

/** Opens a Word document with `{{placeholders}}`. Throws `Refusal` if it is none, or too large. */
export async function openDocxForm(bytes: Uint8Array): Promise<OpenedForm> {
  const parts = await unpack(bytes)
  const texts = Object.entries(parts).flatMap(([name, part]) =>
    TEXTS.test(name) ? [{ name, xml: strFromU8(part) }] : [],
  )
  if (texts.length === 0) throw new Refusal(NOT_ONE)
  const names = texts.flatMap(({ xml }) =>
    placeholdersIn(Array.from(xml.matchAll(PARAGRAPH), ([one]) => textOf(one)).join('\n')),
  )
  return {
    fields: [...new Set(names)].map((name) => ({ name, kind: 'text' as const })),
    async fill(values) {
      const filled = texts.map(({ name, xml }) => [name, strToU8(fillXml(xml, values))])
      return zipSync({ ...parts, ...Object.fromEntries(filled) })
    },
  }
}

async function unpack(bytes: Uint8Array): Promise<Record<string, Uint8Array>> {
  await refuseBadZip(Buffer.from(bytes), NOT_ONE)
  try {
    return unzipSync(bytes, {
      filter({ originalSize }) {
        if (originalSize <= MAX_PART_BYTES) return true
        throw new Refusal('The document is too large')
      },
    })
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(NOT_ONE)
  }
}

function textOf(paragraph: string): string {
  return Array.from(paragraph.matchAll(RUN_TEXT), ([, , text]) => text).join('')
}

/** A placeholder may be split over several runs; the paragraph's text then moves into the first run. */
function fillXml(xml: string, values: FormValues): string {
  return xml.replaceAll(PARAGRAPH, (paragraph) => {
    const whole = textOf(paragraph)
    const filled = fillPlaceholders(whole, values, escapeXml)
    if (filled === whole) return paragraph
    let isFirst = true
    return paragraph.replaceAll(RUN_TEXT, (_run, _open: string, _text: string, close: string) => {
      const text = isFirst ? filled : ''
      isFirst = false
      return `<w:t xml:space="preserve">${text}${close}`
    })
  })
}

function escapeXml(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/(?![\t\n\r])\p{Cc}/gu, ' ')
}
