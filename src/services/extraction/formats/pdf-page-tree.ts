import {
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFRef,
} from '@cantoo/pdf-lib'

/** Of a node of the tree of pages. */
const MOST_KIDS = 100
const KIDS = PDFName.of('Kids')
const COUNT = PDFName.of('Count')
const PAGES = PDFName.of('Pages')

/**
 * The same PDF with nodes of at most so many kids between the root and its pages: who looks for a page passes
 * all kids before it, so that a list of ten thousand would be passed ten thousand times. Answers nothing where
 * the tree is fine as it is, or where this parser cannot read the file.
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

/** Answers the nodes that have other kids now. */
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
    if (kids.size() <= MOST_KIDS) continue
    dictionary.set(KIDS, context.obj(groupsOf(kids.asArray(), node)))
    changed.push(node)
  }
  return changed

  function groupsOf(kids: readonly PDFObject[], parent: PDFRef): PDFRef[] {
    return Array.from({ length: Math.ceil(kids.length / MOST_KIDS) }, (_, i) => {
      const few = kids.slice(i * MOST_KIDS, (i + 1) * MOST_KIDS)
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
