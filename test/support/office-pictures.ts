import { utils, write } from '@e965/xlsx'
import { unzipSync } from 'fflate'
import { zipFile } from './zip-file.ts'

const relation = (type: string, target: string) =>
  `<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`
const archive = (entries: Record<string, string | Uint8Array>) =>
  zipFile(Object.entries(entries).map(([name, content]) => ({ name, content })))
const relations = (...all: string[]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join('')}</Relationships>`

/** A Word file with a picture between two paragraphs. */
export const wordWith = (picture: Uint8Array) =>
  archive({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/></Types>',
    '_rels/.rels': relations(relation('officeDocument', 'word/document.xml')),
    'word/_rels/document.xml.rels': relations(relation('image', 'media/1.png')),
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><w:body><w:p><w:r><w:t>Before.</w:t></w:r></w:p><w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="r1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p><w:p><w:r><w:t>After.</w:t></w:r></w:p></w:body></w:document>`,
    'word/media/1.png': picture,
  })

/** One slide with nothing but a picture. */
export const slidesWith = (picture: Uint8Array) =>
  archive({
    'ppt/presentation.xml': '<p:presentation><p:sldId r:id="r1"/></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations(relation('slide', 'slides/slide1.xml')),
    'ppt/slides/slide1.xml': '<p:sld></p:sld>',
    'ppt/slides/_rels/slide1.xml.rels': relations(relation('image', '../media/1.png')),
    'ppt/media/1.png': picture,
  })

/** A workbook with a picture on each of two sheets, of which the second has no cells. */
export function workbookWith(first: Uint8Array, second: Uint8Array) {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Bird'], ['Tern']]), 'Birds')
  utils.book_append_sheet(book, utils.aoa_to_sheet([]), 'Map')
  const drawn = [1, 2].flatMap((number) => [
    [
      `xl/worksheets/_rels/sheet${number}.xml.rels`,
      relations(relation('drawing', `../drawings/drawing${number}.xml`)),
    ],
    [`xl/drawings/drawing${number}.xml`, '<xdr:wsDr/>'],
    [
      `xl/drawings/_rels/drawing${number}.xml.rels`,
      relations(relation('image', `/xl/media/${number}.png`)),
    ],
  ])
  const parts = unzipSync(new Uint8Array(write(book, { type: 'buffer' })))
  return archive({
    ...parts,
    ...Object.fromEntries(drawn),
    'xl/media/1.png': first,
    'xl/media/2.png': second,
  })
}

/** A text or a presentation of OpenDocument. */
export const openDocumentWith = (body: string, picture: Uint8Array) =>
  archive({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:document-content><office:body>${body}</office:body></office:document-content>`,
    'Pictures/1.png': picture,
  })

/** A book of one chapter beside its pictures. */
export const bookWith = (body: string, pictures: Record<string, string | Uint8Array>) =>
  archive({
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="book/content.opf"/></rootfiles></container>',
    'book/content.opf':
      '<package><manifest><item id="one" href="text/one.xhtml"/></manifest><spine><itemref idref="one"/></spine></package>',
    'book/text/one.xhtml': `<html><body>${body}</body></html>`,
    ...pictures,
  })
