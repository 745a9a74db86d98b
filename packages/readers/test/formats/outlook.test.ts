import { CFB } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { extractFile } from '../../src/extract-file.ts'
import { sourceFile } from '../source-file.ts'

/** A message of Outlook with these streams. */
function message(streams: Record<string, Uint8Array>) {
  const container = CFB.utils.cfb_new()
  for (const [path, content] of Object.entries(streams)) {
    CFB.utils.cfb_add(container, `/${path}`, Buffer.from(content))
  }
  return sourceFile('a.msg', Buffer.from(CFB.write(container, { type: 'buffer' })))
}

const PROPERTIES = '__properties_version1.0'
const FIRST = '__attach_version1.0_#00000000'
const SECOND = '__attach_version1.0_#00000001'
const text = (property: string, words: string) =>
  [`__substg1.0_${property}001F`, Buffer.from(words, 'utf16le')] as const
const within = (folder: string, ...streams: (readonly [string, Uint8Array])[]) =>
  streams.map(([name, content]) => [`${folder}/${name}`, content] as const)

/** Properties of fixed length behind a header. */
function properties(header: number, ...values: [tag: number, value: bigint][]) {
  const bytes = Buffer.alloc(header + values.length * 16)
  for (const [place, [tag, value]] of values.entries()) {
    bytes.writeUInt32LE(tag, header + place * 16)
    bytes.writeBigUInt64LE(value, header + place * 16 + 8)
  }
  return [PROPERTIES, bytes] as const
}

const NOON = (BigInt(Date.UTC(2031, 4, 4, 12)) + 11_644_473_600_000n) * 10_000n

describe('A message of Outlook', () => {
  it('is read as a mail is, with what is attached', async () => {
    const inner = `${SECOND}/__substg1.0_3701000D`
    const { text: words } = await extractFile(
      message(
        Object.fromEntries([
          properties(32, [0x0039_0040, NOON]),
          text('0037', 'Fähre nach Læsø'),
          text('0C1A', 'Ost, Ida'),
          text('5D01', 'ida@example.org'),
          text('0E04', 'Jo Tern; Ann Gull'),
          text('1000', 'See the page.'),
          [
            '__substg1.0_10130102',
            Buffer.from('<p>The ferry costs <b>47</b> crowns.</p>'),
          ] as const,
          ...within(FIRST, properties(8), text('3707', 'Änderung.txt'), [
            '__substg1.0_37010102',
            Buffer.from('It leaves at nine.'),
          ]),
          ...within(inner, properties(24), text('0037', 'Before'), text('1000', 'How much is it?')),
          ...within(SECOND, properties(8)),
        ]),
      ),
    )
    expect(words.split(/\n+/)).toEqual([
      '# Fähre nach Læsø',
      'From: Ost, Ida <ida@example.org>',
      'To: Jo Tern, Ann Gull',
      'Date: 2031-05-04T12:00:00.000Z',
      'The ferry costs **47** crowns.',
      '## Attachment: Änderung.txt',
      'It leaves at nine.',
      '## Attachment: Before.eml',
      '# Before',
      'How much is it?',
      '',
    ])
  })

  it('keeps semicolons in its subject, and commas in names', async () => {
    const { text: words } = await extractFile(
      message(
        Object.fromEntries([
          properties(32),
          text('0037', 'Ferry; quay 7, "west"'),
          text('0C1A', 'O\\st "Ida"'),
          text('0E04', 'Tern, Jo (quay 7); Gull: Ann ; jo@example.org;'),
          text('0E03', "O'Hara, Ute, Dr."),
        ]),
      ),
    )
    expect(words.split(/\n+/)).toEqual([
      '# Ferry; quay 7, "west"',
      'From: Ost Ida',
      'To: Tern, Jo (quay 7), Gull: Ann, jo@example.org',
      "Cc: O'Hara, Ute, Dr.",
      '',
    ])
  })

  it('may have texts in a code page', async () => {
    const file = message({
      [PROPERTIES]: properties(32, [0x3ffd_0003, 1_251n])[1],
      '__substg1.0_0037001E': Buffer.from([0xca, 0xe8, 0xeb, 0xfc]),
      '__substg1.0_1000001E': Buffer.from([0xcf, 0xee, 0xf0, 0xf2]),
    })
    expect((await extractFile(file)).text).toMatch(/^# Киль\n\n\s*Порт/)
  })

  it('may have its text as rich text alone, which is compressed', async () => {
    // The example of [MS-OXRTFCP], 3.
    const packed =
      '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0'
    const file = message({
      [PROPERTIES]: properties(32)[1],
      '__substg1.0_10090102': Buffer.from(packed, 'hex'),
    })
    expect((await extractFile(file)).text).toContain('hello world')
  })

  it('may have a page within rich text, of which the page is read', async () => {
    const page = String.raw`{\rtf1\ansi\ansicpg1252\fromhtml1 {\fonttbl{\f0\fcharset204 Arial;}{\f1 Arial;}}
{\*\generator Any;}{\*\htmltag64 <p title="a \{1\}">}\htmlrtf {\htmlrtf0 Fee \u8364 ?47 \u8211\'96 \f0\'cf\'ee\'f0\'f2
{\*\htmltag84 &lt;}5\htmlrtf\par not this}\htmlrtf0 {\*\mhtmltag2 <p>}{\*\htmltag72 </p>}\f1 M\'f6we}`
    const head = Buffer.alloc(16)
    head.write('MELA', 8)
    const file = message({
      [PROPERTIES]: properties(32)[1],
      '__substg1.0_10090102': Buffer.concat([head, Buffer.from(page)]),
    })
    const { text: words } = await extractFile(file)
    expect(words.replaceAll(/\s+/g, ' ')).toContain('Fee €47 – Порт<5')
    expect(words).toContain('Möwe')
    expect(words).not.toMatch(/Any|title|not this/)
  })

  it('is read as far as compressed text that breaks off goes', async () => {
    const broken = '2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232'
    const file = message({
      [PROPERTIES]: properties(32)[1],
      ...Object.fromEntries([text('0037', 'Ferry')]),
      '__substg1.0_10090102': Buffer.from(broken, 'hex'),
    })
    expect((await extractFile(file)).text).toMatch(/^# Ferry/)
  })

  it('is damaged without its properties', async () => {
    const file = message({ [`within/${PROPERTIES}`]: Buffer.alloc(32) })
    await expect(extractFile(file)).rejects.toMatchObject({ code: 'damaged_file' })
  })

  it('is refused where messages nest without end', async () => {
    let folder = ''
    const streams: (readonly [string, Uint8Array])[] = [properties(32)]
    for (let depth = 0; depth < 12; depth++) {
      folder += `${FIRST}/__substg1.0_3701000D/`
      streams.push([`${folder}${PROPERTIES}`, Buffer.alloc(24)])
    }
    await expect(extractFile(message(Object.fromEntries(streams)))).rejects.toMatchObject({
      code: 'file_too_complex',
    })
  })
})
