import { describe, expect, it } from 'vitest'
import { fixture } from '../../../test/support/forms.ts'
import { decodeText, encodingOf } from '../src/decode-text.ts'

const GERMAN = /^Die Eule jagt bei Nacht im Wäldchen\. Größere Mäuse/
const RUSSIAN = /^Сова охотится ночью в тёмном лесу/

const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16()
const utf16 = (text: string) => Buffer.from(text, 'utf16le')

describe('Text is decoded', () => {
  it.each([
    ['german.latin-1.txt', GERMAN],
    ['german.utf-16.txt', GERMAN],
    ['german.utf-16le.txt', GERMAN],
    ['german.utf-8-bom.txt', GERMAN],
    ['russian.koi8-r.txt', RUSSIAN],
    ['russian.windows-1251.txt', RUSSIAN],
    ['japanese.shift-jis.txt', /^ふくろうは夜の森で狩りをします/],
    ['chinese.gbk.txt', /^猫头鹰在夜间的森林里捕猎/],
  ])('from %s', async (name, expected) => {
    expect(await decodeText(fixture(name))).toMatch(expected)
  })

  it.each([
    ['UTF-8', Buffer.from('Grüße, 世界 👋')],
    ['UTF-8 with a mark', Buffer.from('\uFEFFGrüße, 世界 👋')],
    ['UTF-16, little end first, with a mark', utf16('\uFEFFGrüße, 世界 👋')],
    ['UTF-16, big end first, with a mark', swapped(utf16('\uFEFFGrüße, 世界 👋'))],
  ])('from %s, without the mark', async (_encoding, bytes) => {
    expect(await decodeText(bytes)).toBe('Grüße, 世界 👋')
  })

  it.each([
    ['little end first', 'utf-16le', utf16('Nothing marks this text but its zeros.')],
    ['big end first', 'utf-16be', swapped(utf16('Nothing marks this text but its zeros.'))],
  ])('from UTF-16 without a mark, %s', async (_order, encoding, bytes) => {
    expect(await encodingOf(bytes)).toBe(encoding)
    expect(await decodeText(bytes)).toBe('Nothing marks this text but its zeros.')
  })

  it('with line feeds alone, whatever ended its lines', async () => {
    expect(await decodeText(Buffer.from('one\r\ntwo\rthree\n'))).toBe('one\ntwo\nthree\n')
  })

  it('though the sample ends within a character', async () => {
    const text = `${'x'.repeat(65_535)}ü and more`
    expect(await decodeText(Buffer.from(text))).toBe(text)
  })

  it('though it holds an escape and a form feed, as terminals and printers want', async () => {
    const text = 'A \u001b[1mbold\u001b[0m word\fand a page'
    expect(await decodeText(Buffer.from(text))).toBe(text)
  })

  it.each([
    // "名前,年齢" and "田中,34" in Shift-JIS.
    ['shift_jis', '96bc914f2c944e97ee0a936392862c33340a', '名前,年齢\n田中,34\n'],
    // "Имя,Город" and "Анна,Тверь" in Windows-1251.
    ['windows-1251', 'c8ecff2cc3eef0eee40ac0edede02cd2e2e5f0fc0a', 'Имя,Город\nАнна,Тверь\n'],
  ])('from a few words in %s, which is said to be a guess', async (encoding, hex, text) => {
    const guesses: string[] = []
    const bytes = Buffer.from(hex, 'hex')
    expect(await decodeText(bytes, (guess) => guesses.push(guess.toLowerCase()))).toBe(text)
    expect(guesses).toEqual([encoding])
  })

  it.each([
    [
      'XML',
      'windows-1251',
      '<?xml version="1.0" encoding="windows-1251"?>\n<a>',
      'd1eee2e0',
      'Сова',
    ],
    ['HTML', 'koi8-r', '<html><meta charset="koi8-r"><p>', 'f3cfd7c1', 'Сова'],
    [
      'old HTML',
      'iso-8859-7',
      '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-7">',
      'eaeff5eaeffd',
      'κουκού',
    ],
    [
      'source code',
      'windows-1250',
      '#!/usr/bin/env python\n# coding: windows-1250\n# ',
      'e8e1e8',
      'čáč',
    ],
  ])('from the encoding that %s names', async (_kind, encoding, head, hex, text) => {
    const guesses: string[] = []
    const bytes = Buffer.concat([Buffer.from(head), Buffer.from(hex, 'hex')])
    expect(await decodeText(bytes, (guess) => guesses.push(guess))).toBe(`${head}${text}`)
    expect(await encodingOf(bytes)).toBe(encoding)
    expect(guesses).toEqual([])
  })

  it.each([
    ['which the text disproves', '<?xml version="1.0" encoding="utf-8"?><a>'],
    ['which cannot be, since it can be read', '<?xml version="1.0" encoding="utf-16"?><a>'],
    ['which nobody knows', '<?xml version="1.0" encoding="owlish"?><a>'],
  ])('without regard to a name %s', async (_case, head) => {
    expect(
      await decodeText(Buffer.concat([Buffer.from(head), Buffer.from('Größe', 'latin1')])),
    ).toBe(`${head}Größe`)
  })

  it('from the few words that are beyond ASCII, among much markup', async () => {
    // "Сова охотится ночью в тёмном лесу" in Windows-1251.
    const owl = Buffer.from(
      'd1eee2e020eef5eef2e8f2f1ff20edeef7fcfe20e220f2b8ecedeeec20ebe5f1f3',
      'hex',
    )
    const markup = Buffer.from(
      '<entry><link href="https://example.org/the/news/of/an/owl"/></entry>\n',
    )
    const bytes = Buffer.concat([...Array<Buffer>(9).fill(markup), owl, markup])
    expect(await encodingOf(bytes)).toBe('windows-1251')
    expect(await decodeText(bytes)).toContain('Сова охотится ночью')
  })

  it.each(['Größe', 'café', 'Ångström'])('from one word in Latin-1: %s', async (word) => {
    expect(await decodeText(Buffer.from(word, 'latin1'))).toBe(word)
  })

  it('from Japanese in ISO 2022, which is ASCII byte by byte', async () => {
    expect(await decodeText(Buffer.from('\u001b$B%U%/%m%&\u001b(B and more'))).toBe(
      'フクロウ and more',
    )
  })

  it('from nothing', async () => expect(await decodeText(Buffer.alloc(0))).toBe(''))
})

describe('An encoding is decided by the whole text', () => {
  const late = (text: string, encoding: 'latin1' | Buffer) =>
    Buffer.concat([
      Buffer.from('Nothing but plain letters here.\n'.repeat(5_000)),
      encoding === 'latin1' ? Buffer.from(text, encoding) : encoding,
    ])

  it('though its first letter beyond ASCII comes late', async () => {
    expect(await decodeText(late('A café in Århus.\n', 'latin1'))).toMatch(/A café in Århus\.\n$/)
  })

  it('though its first Japanese comes late', async () => {
    const japanese = fixture('japanese.shift-jis.txt')
    expect(await decodeText(late('', japanese))).toContain('ふくろうは夜の森で狩りをします')
    const escaped = Buffer.from('\u001b$B%U%/%m%&\u001b(B\n')
    expect(await decodeText(late('', escaped))).toMatch(/フクロウ\n$/)
  })

  it('and is UTF-8 though a few letters are damaged, which is said', async () => {
    const guesses: string[] = []
    const bytes = Buffer.concat([
      late('', Buffer.from('Grüße aus Århus. '.repeat(20))),
      Buffer.from([0xe9]),
      Buffer.from(' Schöne Grüße.\n'),
    ])
    const text = await decodeText(bytes, (guess) => guesses.push(guess))
    expect(text).toMatch(/Grüße aus Århus\. \ufffd Schöne Grüße\.\n$/)
    expect(guesses).toEqual(['utf-8'])
  })

  it('and is UTF-8 though its last letter is cut off', async () => {
    const bytes = Buffer.from('Grüße aus Århus, schö')
    expect(await encodingOf(bytes.subarray(0, -1))).toBe('utf-8')
  })
})

describe('An encoding of few letters is a guess', () => {
  it.each([
    ['a name', 'id,port\n1,G\xf6teborg\n', 'Göteborg'],
    ['a comment', '# K\xf8benhavn\nx = 1\n', 'København'],
    ['two names', '[{"n":1,"port":"M\xe1laga"},{"n":2,"port":"C\xe1diz"}]', 'Cádiz'],
  ])('at the most common one: %s', async (_case, text, name) => {
    const guesses: string[] = []
    const bytes = Buffer.from(text, 'latin1')
    expect(await decodeText(bytes, (guess) => guesses.push(guess))).toContain(name)
    expect(guesses).toEqual(['windows-1252'])
  })

  it('but not at one in which signs stand within words', async () => {
    const polish =
      'Statki p\xb3yn\xb9 do \xa3eby, a \xbfagle stoj\xb9 w Ustce. Op\xb3ata ro\x9cnie.\n'
    expect(await decodeText(Buffer.from(polish, 'latin1'))).toContain(
      'płyną do Łeby, a żagle stoją',
    )
  })
})

// fazer-ai/agents#247, brianmario/charlock_holmes#192: a stray zero is no reason to lose the text, nor to read every two letters as one.
it.each([
  ['between words', 'The fee is 12 crowns\0 per day.\n', 'The fee is 12 crowns per day.\n'],
  ['at an odd place of a short table', 'ship,berth\nHer\0on,4\n', 'ship,berth\nHeron,4\n'],
  ['at the end', `Möwen${'.'.repeat(500)}\0`, `Möwen${'.'.repeat(500)}`],
  [
    'far behind the beginning',
    `${'a line\n'.repeat(20_000)}\0end`,
    `${'a line\n'.repeat(20_000)}end`,
  ],
])('A zero %s is left out of a text', async (_place, text, read) => {
  expect(await decodeText(Buffer.from(text))).toBe(read)
})

describe('What is no text', () => {
  it.each([
    ['zeros', Buffer.alloc(1_000)],
    ['numbers of four bytes', Buffer.from(Uint32Array.from({ length: 500 }, (_, i) => i).buffer)],
    ['control characters', Buffer.from(Array.from({ length: 999 }, (_, i) => i % 9))],
    ['bytes that no text has', Buffer.from('80818d90fffec3'.repeat(5), 'hex')],
    ['words between many zeros', Buffer.from('name\0\0\0\0size\0\0\0\0'.repeat(20))],
    ['words, a zero and numbers', Buffer.from(`A text${'.'.repeat(500)}\0\u0001\u0002`)],
  ])('is not taken for one: %s', async (_case, bytes) => {
    expect(await decodeText(bytes)).toBeUndefined()
  })
})

it('A text is not decoded where it can only be too long', async () => {
  await expect(decodeText(Buffer.alloc(200_000_001, 'x'))).rejects.toThrow(/50 million characters/)
})

it.each([
  ['one Cyrillic word', 'cff0e8e2e5f2', 'windows-1251'],
  ['one Danish word', 'c672f8', 'windows-1252'],
])('The encoding of %s is a guess, and none in which it would break off', async (_, hex, guess) => {
  const guesses: string[] = []
  const text = await decodeText(Buffer.from(hex, 'hex'), (encoding) => guesses.push(encoding))
  expect(guesses).toEqual([guess])
  expect(text).not.toContain('\ufffd')
})
