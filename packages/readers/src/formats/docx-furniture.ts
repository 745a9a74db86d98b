import { oneLine } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { isOn } from './docx-styles.ts'
import { pathsOf } from './ooxml.ts'
import { readXml } from './xml.ts'

/** What stands above and below every page, once each. */
export async function furnitureOf(zip: ZipArchive, main: string): Promise<string[]> {
  const lines = new Set<string>()
  for (const kind of ['header', 'footer']) {
    for (const path of (await pathsOf(zip, main, kind)).values()) {
      const text = furnitureText(await zip.readText(path))
      if (text !== '') lines.add(`Page ${kind}: ${text}`)
    }
  }
  return [...lines]
}

/** Fields whose result is another on each page. */
const COUNTED = /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION)\b/i
const HIDDEN = new Set(['mc:Fallback', 'w:del', 'w:moveFrom'])
const BLANKS = new Set(['w:tab', 'w:br', 'w:cr', 'w:ptab'])

/** The paragraphs and cells of a page header or footer, without the numbers of pages. */
function furnitureText(xml: string): string {
  const parts = new Set<string>()
  const fields = createFields()
  let part = ''
  let isText = false
  let hidden = 0
  /** Within the properties that a tracked change has replaced: above 0. */
  let former = 0
  /** Whether the text of the run is hidden. */
  let isHidden = false
  const readRun = (name: string, value = '') => {
    if (name === 'w:r') isHidden = false
    if (name === 'w:rPrChange') former++
    if (name === 'w:vanish' && former === 0) isHidden = isOn(value)
  }
  readXml(xml, {
    open(name, attributes) {
      if (HIDDEN.has(name)) hidden++
      if (BLANKS.has(name)) part += ' '
      readRun(name, attributes['w:val'])
      isText = name === 'w:t' && !isHidden
      fields.open(name, attributes)
    },
    text(data) {
      if (!isText) fields.text(data)
      else if (hidden === 0 && !fields.isCounted()) part += data
    },
    close(name) {
      if (HIDDEN.has(name)) hidden--
      if (name === 'w:rPrChange') former--
      isText = false
      fields.close(name)
      if (name !== 'w:p') return
      const line = oneLine(part)
      if (/[\p{L}\p{N}]/u.test(line)) parts.add(line)
      part = ''
    },
  })
  return [...parts].join(' | ')
}

/** The instructions of the fields that are open. */
function createFields() {
  const open: string[] = []
  return {
    open(name: string, attributes: Record<string, string>): void {
      const type = name === 'w:fldChar' ? attributes['w:fldCharType'] : undefined
      if (name === 'w:fldSimple') open.push(attributes['w:instr'] ?? '')
      else if (type === 'begin') open.push('')
      else if (type === 'end') open.pop()
    },
    text(data: string): void {
      if (open.length > 0) open[open.length - 1] += data
    },
    close(name: string): void {
      if (name === 'w:fldSimple') open.pop()
    },
    isCounted: () => open.some((field) => COUNTED.test(field)),
  }
}
