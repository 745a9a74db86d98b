import { readXml } from './xml.ts'

export interface Slide {
  title: string
  /** Paragraphs, and tables as Markdown. */
  body: string
}

const TITLES = ['title', 'ctrTitle']
/** Placeholders that stand on every slide. */
const FURNITURE = ['dt', 'ftr', 'sldNum', 'hdr', 'sldImg']

/** Reads the XML of a slide or of its notes. */
export function readSlide(xml: string): Slide {
  const title: string[] = []
  const lines: string[] = []
  let placeholder = ''
  let paragraph = ''
  let cell = ''
  let row: string[] = []
  let rows = 0
  let isTable = false
  let isText = false

  const endParagraph = () => {
    const text = paragraph.replaceAll(/\s+/g, ' ').trim()
    paragraph = ''
    if (text === '' || FURNITURE.includes(placeholder)) return
    if (isTable) cell += `${cell ? ' ' : ''}${text}`
    else if (TITLES.includes(placeholder)) title.push(text)
    else lines.push(text, '')
  }
  const endRow = () => {
    lines.push(`| ${row.join(' | ')} |`)
    if (rows++ === 0) lines.push(`|${' --- |'.repeat(row.length)}`)
    row = []
  }
  const openings = new Map<string, (attributes: Record<string, string>) => void>(
    Object.entries({
      'p:sp': () => {
        placeholder = ''
      },
      'p:ph': ({ type }: Record<string, string>) => {
        placeholder = type ?? 'body'
      },
      'a:t': () => {
        isText = true
      },
      'a:br': () => {
        paragraph += ' '
      },
      'a:tbl': () => {
        isTable = true
        rows = 0
      },
    }),
  )
  const closings = new Map<string, () => void>(
    Object.entries({
      'a:t': () => {
        isText = false
      },
      'a:p': endParagraph,
      'a:tc': () => {
        row.push(cell.replaceAll('|', '/'))
        cell = ''
      },
      'a:tr': endRow,
      'a:tbl': () => {
        isTable = false
        lines.push('')
      },
    }),
  )

  readXml(xml, {
    open: (name, attributes) => openings.get(name)?.(attributes),
    text(data) {
      if (isText) paragraph += data
    },
    close: (name) => closings.get(name)?.(),
  })
  return { title: title.join(' '), body: lines.join('\n').trim() }
}
