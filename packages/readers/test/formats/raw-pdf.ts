/** A PDF of one page that draws what the operators say, with Helvetica as F1, and further objects, from number 7 on. */
export function rawPdf(
  content: string,
  more: { catalog?: string; page?: string; objects?: readonly string[] } = {},
) {
  const { catalog = '', page = '', objects = [] } = more
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
  const body = all.map((object, n) => `${n + 1} 0 obj${object}endobj\n`).join('')
  return Buffer.from(`%PDF-1.4\n${body}trailer<</Root 1 0 R/Size ${all.length + 1}>>`, 'latin1')
}

/** Operators that draw a text. */
export const text = (words: string, x: number, y: number, size = 12, before = '') =>
  `BT /F1 ${size} Tf ${before} ${x} ${y} Td (${words}) Tj ET\n`
