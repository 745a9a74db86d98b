import { type BookType, read, utils, write } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { extractFile } from '../../src/extract-file.ts'

const NAMES = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"`

const textOf = async (name: string, bytes: Buffer) =>
  (await extractFile({ name, mediaType: '', bytes })).text

function openDocument(kind: string, body: string, more: { name: string; content: string }[] = []) {
  return zipFile([
    { name: 'mimetype', content: `application/vnd.oasis.opendocument.${kind}` },
    {
      name: 'content.xml',
      content: `<?xml version="1.0"?><office:document-content ${NAMES}><office:automatic-styles><text:p>style</text:p></office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
    },
    ...more,
  ])
}

describe('A text of OpenDocument', () => {
  it('keeps headings, lists, tables, notes and comments, but not what was deleted', async () => {
    const file = openDocument(
      'text',
      `<office:text>
        <text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes>
        <text:h text:outline-level="2">Terns &amp; gulls</text:h>
        <text:p>They <text:span>breed</text:span><text:s/>here<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Since 1990.</text:p></text:note-body></text:note>.<office:annotation><dc:creator>Ann</dc:creator><text:p>Check this.</text:p></office:annotation></text:p>
        <text:list><text:list-item><text:p>First</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>Bird</text:p></table:table-cell><table:table-cell><text:p>Pairs</text:p></table:table-cell></table:table-row>
        <table:table-row><table:table-cell><text:p>Tern</text:p></table:table-cell><table:table-cell><text:p>52</text:p></table:table-cell></table:table-row></table:table>
      </office:text>`,
    )
    const text = await textOf('birds.odt', file)
    expect(text).toMatch(/^## Terns & gulls\n/)
    expect(text).toContain('They breed here (Since 1990.). (Check this.)')
    expect(text).toMatch(/- +First/)
    expect(text).toMatch(/\| Bird \| Pairs \|[\s\S]*\| Tern \| 52 \|/)
    expect(text).not.toMatch(/Deleted|style|Ann/)
  })

  it('of slides has a heading for each, and their notes', async () => {
    const slides = `<office:presentation><draw:page draw:name="Owls"><draw:frame><draw:text-box><text:p>Owls hunt at night.</text:p></draw:text-box></draw:frame><presentation:notes><text:p>Say it slowly.</text:p></presentation:notes></draw:page></office:presentation>`
    const text = await textOf('owls.odp', openDocument('presentation', slides))
    expect(text).toMatch(/^## Owls\n\nOwls hunt at night\.\n\n### Notes\n\nSay it slowly\./)
  })

  it('is refused where it is protected with a password', async () => {
    const manifest = { name: 'META-INF/manifest.xml', content: '<manifest:encryption-data/>' }
    await expect(textOf('a.odt', openDocument('text', '', [manifest]))).rejects.toMatchObject({
      code: 'encrypted_file',
    })
  })
})

describe.each(['ods', 'biff8', 'xlsb'] as const)('A workbook of type %s', (bookType) => {
  it('is read as one of XLSX is', async () => {
    const sheet = utils.aoa_to_sheet([
      ['Bird', 'Pairs', 'Share'],
      ['Tern', 52, 0.125],
      ['Gull', 1_550, 0.5],
    ])
    sheet.C2.z = '0.0%'
    sheet.C3.z = '0.0%'
    const book = utils.book_new()
    utils.book_append_sheet(book, sheet, 'Colonies')
    const bytes: Buffer = write(book, { type: 'buffer', bookType })
    expect(read(bytes).SheetNames).toEqual(['Colonies'])
    expect(await textOf(bookType === 'ods' ? 'birds.ods' : 'birds.xls', bytes)).toMatch(
      /^## Colonies\n\n- Bird: Tern; Pairs: 52; Share: 12.50?%\n- Bird: Gull; Pairs: 1550; Share: 50.00?%\n\n$/,
    )
  })
})

describe('An old workbook is read', () => {
  const birds = [{ Bird: 'Tern', Pairs: 52 }]
  const book = utils.book_new(utils.json_to_sheet(birds))
  const written = (bookType: BookType): Buffer => write(book, { type: 'buffer', bookType })

  it.each(['biff4', 'biff3', 'biff2'] as BookType[])('of type %s', async (bookType) => {
    expect(await textOf('birds.xls', written(bookType))).toMatch(/- Bird: Tern; Pairs: 52/)
  })

  it('that has its name in capitals, as some programs write it', async () => {
    const bytes = written('biff8')
    const at = bytes.indexOf(Buffer.from('Workbook', 'utf16le'))
    bytes.write('WORKBOOK', at, 'utf16le')
    expect(await textOf('birds.xls', bytes)).toMatch(/- Bird: Tern; Pairs: 52/)
  })
})
