import {
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFRef,
} from '@cantoo/pdf-lib'

/** Forms have hundreds of fields; any beyond this limit are left out. */
const MAX_FIELDS = 10_000
const MAX_VALUE = 10_000
/** Types of fields that hold no text entered by the person who filled in the form. */
const WORDLESS = ['', 'button', 'signature']
const NOT_CHECKED = 'Off'

/** The values of a form's filled fields as lines `Name: value`, by page number, from 1. */
export function fieldsByPage(fields: Iterable<readonly unknown[]>): Map<number, string> {
  const pages = new Map<number, string[]>()
  const seen = new Set<string>()
  for (const widget of Array.from(fields).flat()) {
    const field: Partial<Record<string, unknown>> = Object(widget)
    const page = typeof field.page === 'number' ? field.page : -1
    const line = page < 0 ? undefined : toLine(field)
    // A choice has a widget for each of its options.
    if (!line || seen.has(`${page} ${line}`) || seen.size >= MAX_FIELDS) continue
    seen.add(`${page} ${line}`)
    pages.set(page + 1, [...(pages.get(page + 1) ?? []), line])
  }
  return new Map(Array.from(pages, ([page, lines]) => [page, lines.join('\n')]))
}

function toLine(field: Partial<Record<string, unknown>>): string | undefined {
  const { name, type, value, password } = field
  if (typeof name !== 'string' || typeof type !== 'string') return undefined
  if (password === true || WORDLESS.includes(type)) return undefined
  const items: unknown[] = Array.isArray(field.items) ? field.items : []
  const isBox = type === 'checkbox' || type === 'radiobutton'
  const shown = [value]
    .flat()
    .filter((one) => typeof one === 'string')
    .filter((one) => !(isBox && one === NOT_CHECKED))
    .map((one) => displayed(one, items))
    .join(', ')
  const words = shown.slice(0, MAX_VALUE).replaceAll(/\s+/g, ' ').trim()
  return words === '' ? undefined : `${plainName(name)}: ${words}`
}

/** The value as readers see it, if the form stores a different one for programs. */
function displayed(value: string, items: readonly unknown[]): string {
  for (const item of items) {
    const { exportValue, displayValue } = Object(item)
    if (exportValue === value && typeof displayValue === 'string') return displayValue
  }
  return value
}

/** The name without the indices that some programs append to each of its parts. */
function plainName(name: string): string {
  return name.replaceAll(/\[\d+\]/g, '').replaceAll(/\s+/g, ' ')
}

/** The maximum number of kids of a node in the page tree. */
const MAX_KIDS = 100
const KIDS = PDFName.of('Kids')
const COUNT = PDFName.of('Count')
const PAGES = PDFName.of('Pages')

/**
 * Returns the PDF with intermediate nodes of at most `MAX_KIDS` kids in the page tree: finding a page means passing all
 * kids before it, so a flat list of ten thousand pages would be traversed ten thousand times. Undefined if the tree is
 * fine as it is, or if this parser cannot read the file.
 */
export async function withShortLists(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  try {
    const document = await PDFDocument.load(bytes, { updateMetadata: false })
    const snapshot = document.takeSnapshot()
    const changed = shortenLists(document)
    if (changed.length === 0) return undefined
    for (const node of changed) snapshot.markRefForSave(node)
    return Buffer.concat([bytes, await document.saveIncremental(snapshot)])
  } catch {
    // Another parser reads the pages, and may well cope with what this one cannot.
    return undefined
  }
}

/** Returns the nodes whose kids were replaced. */
function shortenLists({ catalog, context }: PDFDocument): PDFRef[] {
  const changed: PDFRef[] = []
  const seen = new Set<PDFObject>()
  const waiting: (PDFObject | undefined)[] = [catalog.get(PAGES)]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const dictionary = context.lookup(node)
    if (!(node instanceof PDFRef && dictionary instanceof PDFDict) || seen.has(node)) continue
    seen.add(node)
    const kids = dictionary.lookup(KIDS)
    if (!(kids instanceof PDFArray)) continue
    waiting.push(...kids.asArray())
    if (kids.size() <= MAX_KIDS) continue
    dictionary.set(KIDS, context.obj(groupsOf(kids.asArray(), node)))
    changed.push(node)
  }
  return changed

  function groupsOf(kids: readonly PDFObject[], parent: PDFRef): PDFRef[] {
    return Array.from({ length: Math.ceil(kids.length / MAX_KIDS) }, (_, i) => {
      const few = kids.slice(i * MAX_KIDS, (i + 1) * MAX_KIDS)
      const pages = few.reduce((sum, kid) => sum + pagesIn(kid), 0)
      return context.register(
        context.obj({ Type: 'Pages', Parent: parent, Kids: few, Count: pages }),
      )
    })
  }

  function pagesIn(kid: PDFObject): number {
    const dictionary = context.lookup(kid)
    const count = dictionary instanceof PDFDict ? dictionary.lookup(COUNT) : undefined
    return count instanceof PDFNumber ? count.asNumber() : 1
  }
}
