/** Pages under one node of the tree, as most programs make it. */
const BRANCH = 50

export interface PdfToMake {
  /** The text of each page, in lines. */
  pages: readonly string[]
  /** Some programs make one long list. */
  pagesPerNode?: number
}

/** A PDF as simple as they come. */
export function pdfFile({ pages, pagesPerNode = BRANCH }: PdfToMake): Buffer<ArrayBuffer> {
  const branches = Math.ceil(pages.length / pagesPerNode)
  const pageNumber = (i: number) => 4 + branches + 2 * i
  const objects: Buffer[] = [
    Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
    pagesObject(
      Array.from({ length: branches }, (_, i) => 4 + i),
      pages.length,
    ),
    Buffer.from('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'),
    ...Array.from({ length: branches }, (_, branch) => {
      const few = pages.slice(branch * pagesPerNode, (branch + 1) * pagesPerNode)
      return pagesObject(
        few.map((_, i) => pageNumber(branch * pagesPerNode + i)),
        few.length,
        2,
      )
    }),
    ...pages.flatMap((text, i) => [
      pageObject(pageNumber(i) + 1, 4 + Math.floor(i / pagesPerNode)),
      stream(pageContent(text)),
    ]),
  ]
  const offsets: number[] = []
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  let length = parts[0]?.length ?? 0
  for (const [i, object] of objects.entries()) {
    offsets.push(length)
    const whole = Buffer.concat([
      Buffer.from(`${i + 1} 0 obj\n`),
      object,
      Buffer.from('\nendobj\n'),
    ])
    parts.push(whole)
    length += whole.length
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  return Buffer.concat([
    ...parts,
    Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${rows}`),
    Buffer.from(`trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF`),
  ])
}

function pagesObject(kids: readonly number[], count: number, parent?: number): Buffer {
  const references = kids.map((kid) => `${kid} 0 R`).join(' ')
  const above = parent === undefined ? '' : `/Parent ${parent} 0 R`
  return Buffer.from(`<</Type/Pages${above}/Count ${count}/Kids[${references}]>>`)
}

function pageObject(content: number, parent: number): Buffer {
  const resources = '/Resources<</Font<</F1 3 0 R>>>>'
  return Buffer.from(
    `<</Type/Page/Parent ${parent} 0 R/MediaBox[0 0 595 842]${resources}/Contents ${content} 0 R>>`,
  )
}

function pageContent(text: string): Buffer {
  return Buffer.from(`BT /F1 12 Tf 16 TL 50 700 Td (${text.replaceAll('\n', ') Tj T* (')}) Tj ET`)
}

function stream(bytes: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`<</Length ${bytes.length}>>stream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ])
}
