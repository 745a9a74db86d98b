import { makeWith } from './make-with.ts'
import type { Block, Sample } from './samples.ts'

/** Makes a flat OpenDocument text of a sample and exports it with LibreOffice Writer. */
export async function write(sample: Sample): Promise<Uint8Array> {
  return makeWith(['soffice', '--headless', '--convert-to', 'pdf'], {
    name: 'sample.fodt',
    source: toFlatText(sample),
  })
}

const NAMESPACES = ['office', 'style', 'text', 'table']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ')

const TWO_COLUMNS = '<style:columns fo:column-count="2" fo:column-gap="0.6cm"/>'

function toFlatText({ blocks, header, isTwoColumned }: Sample): string {
  const [title = '', ...rest] = blocks.map(toXml)
  const body = isTwoColumned
    ? `${title}<text:section text:style-name="Columns" text:name="body">${rest.join('')}</text:section>`
    : [title, ...rest].join('')
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${NAMESPACES} xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
  office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:styles>
  <style:default-style style:family="paragraph"><style:paragraph-properties fo:margin-bottom="0.25cm"/>
    <style:text-properties style:font-name="serif" fo:font-family="'DejaVu Serif'" fo:font-size="10pt" fo:language="en" fo:country="GB"/>
  </style:default-style>
  <style:style style:name="Title" style:family="paragraph"><style:text-properties fo:font-size="20pt" fo:font-weight="bold"/></style:style>
  <style:style style:name="Heading_20_1" style:family="paragraph" style:default-outline-level="1">
    <style:text-properties fo:font-size="14pt" fo:font-weight="bold"/></style:style>
  <style:style style:name="Body" style:family="paragraph"><style:paragraph-properties fo:text-align="justify"/>
    <style:text-properties fo:hyphenate="true"/></style:style>
  <style:style style:name="Footnote" style:family="paragraph"><style:text-properties fo:font-size="8pt"/></style:style>
  <style:style style:name="Cell" style:family="paragraph"><style:paragraph-properties fo:margin-bottom="0cm"/></style:style>
  <style:style style:name="Head" style:family="paragraph" style:parent-style-name="Cell">
    <style:text-properties fo:font-weight="bold"/></style:style>
  <style:style style:name="Raised" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>
  <text:notes-configuration text:note-class="footnote" text:start-value="1" style:num-format="1" text:citation-style-name="Raised"
    text:citation-body-style-name="Raised" text:default-style-name="Footnote"/>
</office:styles>
<office:automatic-styles>
  <style:page-layout style:name="A4"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm" fo:margin="2.2cm"/>
    <style:header-style><style:header-footer-properties fo:min-height="0.8cm" fo:margin-bottom="0.4cm"/></style:header-style>
  </style:page-layout>
  <style:style style:name="Columns" style:family="section"><style:section-properties>${TWO_COLUMNS}</style:section-properties></style:style>
  <style:style style:name="Narrow" style:family="table-column"><style:table-column-properties style:rel-column-width="2*"/></style:style>
  <style:style style:name="Wide" style:family="table-column"><style:table-column-properties style:rel-column-width="7*"/></style:style>
  <style:style style:name="Ruled" style:family="table-cell">
    <style:table-cell-properties fo:padding="0.1cm" fo:border="0.5pt solid #000000"/></style:style>
  <style:style style:name="Plain" style:family="table-cell"><style:table-cell-properties fo:padding="0.1cm"/></style:style>
</office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="A4">
  ${header ? `<style:header><text:p text:style-name="Cell">${header}</text:p></style:header>` : ''}
</style:master-page></office:master-styles>
<office:body><office:text>${body}</office:text></office:body></office:document>`
}

function toXml(block: Block): string {
  switch (block.kind) {
    case 'title':
      return `<text:p text:style-name="Title">${block.text}</text:p>`
    case 'heading':
      return `<text:h text:style-name="Heading_20_1" text:outline-level="1">${block.text}</text:h>`
    case 'note':
      return `<text:p text:style-name="Footnote">${block.text}</text:p>`
    case 'text':
      return `<text:p text:style-name="Body">${block.text}${block.footnote ? noteOf(block.footnote) : ''}</text:p>`
    case 'columns':
      return `<text:section text:style-name="Columns" text:name="beside">${block.texts
        .map((text) => `<text:p text:style-name="Body">${text}</text:p>`)
        .join('')}</text:section>`
    case 'table':
      return toTable(block)
  }
}

const noteOf = (text: string) =>
  `<text:note text:note-class="footnote"><text:note-citation/><text:note-body><text:p text:style-name="Footnote">${text}</text:p></text:note-body></text:note>`

function toTable({ rows, isRuled, hasProse }: Extract<Block, { kind: 'table' }>): string {
  const columns = (rows[0] ?? [])
    .map(
      (_, n) =>
        `<table:table-column table:style-name="${hasProse && n === 1 ? 'Wide' : 'Narrow'}"/>`,
    )
    .join('')
  const [head = '', ...body] = rows.map((row, n) => {
    const cells = row.map(
      (text) =>
        `<table:table-cell table:style-name="${isRuled ? 'Ruled' : 'Plain'}"><text:p text:style-name="${n === 0 ? 'Head' : 'Cell'}">${text}</text:p></table:table-cell>`,
    )
    return `<table:table-row>${cells.join('')}</table:table-row>`
  })
  return `<table:table>${columns}<table:table-header-rows>${head}</table:table-header-rows>${body.join('')}</table:table><text:p text:style-name="Cell"/>`
}
