interface More {
  /** Further entries of the catalogue and of the page. */
  catalog?: string
  page?: string
  /** Further objects, numbered from 7 on. */
  objects?: readonly string[]
}

/** A PDF of one page that draws what the operators say, with Helvetica as F1 and Courier as F2. */
export function rawPdf(content: string, { catalog = '', page = '', objects = [] }: More = {}) {
  const font = (name: string) =>
    `<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>`
  const all = [
    `<</Type/Catalog/Pages 2 0 R ${catalog}>>`,
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>${page}>>`,
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    font('Helvetica'),
    font('Courier'),
    ...objects,
  ]
  let pdf = '%PDF-1.4\n'
  const places = all.map((object, n) => {
    const place = pdf.length
    pdf += `${n + 1} 0 obj\n${object}\nendobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const start = pdf.length
  const table = `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${places.join('')}`
  return Buffer.from(
    `${pdf}${table}trailer\n<</Root 1 0 R/Size ${all.length + 1}>>\nstartxref\n${start}\n%%EOF\n`,
    'latin1',
  )
}

/** A stream as an object of a PDF. */
export const stream = (content: string, entries = '') =>
  `<<${entries}/Length ${content.length}>>\nstream\n${content}\nendstream`

/** Operators that draw a text. */
export const text = (words: string, x: number, y: number, size = 12, before = '') =>
  `BT /F1 ${size} Tf ${before} ${x} ${y} Td (${words}) Tj ET\n`
