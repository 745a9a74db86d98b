import { describe, expect, it } from 'vitest'
import { long, onlyLong, someOf } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { extractRtf } from '../../src/formats/rtf.ts'

const extract = (rtf: string) => extractRtf(Buffer.from(rtf, 'latin1'))
const textOf = (rtf: string) => extract(rtf).text
const HEAD = String.raw`{\rtf1\ansi\ansicpg1252\deff0`

describe('Rich text', () => {
  it('of Word has its headings, lists, tables and links, without what is about it', () => {
    const word = String.raw`{\rtf1\adeflang1025\ansi\ansicpg1252\uc1\adeff0\deff0\stshfdbch0\deflang1031
{\fonttbl{\f0\fbidi \froman\fcharset0\fprq2{\*\panose 02020603050405020304}Times New Roman;}{\f3\fbidi \froman\fcharset2\fprq2 Symbol;}}
{\colortbl;\red0\green0\blue0;}{\stylesheet{\ql \li0\ri0 \snext0 Normal;}{\s1\ql \outlinelevel0 \sbasedon0 heading 1;}}
{\*\listtable{\list\listtemplateid1{\listlevel{\leveltext\'01\'b7;}}}}{\*\generator Microsoft Word;}{\info{\title Secret title}{\author Ann}}
{\*\xmlnstbl {\xmlns1 http://schemas.microsoft.com/}}{\header \pard\plain Every page\par }
\pard\plain \ltrpar\s1\ql \keepn\outlinelevel0\itap0 \f0\fs32 {\rtlch\fcs1 \af0 \ltrch\fcs0 \insrsid1 Birds of the }{\rtlch\fcs1 \af0 lake
\par }\pard\plain \ltrpar\ql {\field\fldedit{\*\fldinst { HYPERLINK "https://example.org" }{\*\datafield 00d0}}{\fldrslt {\ul Herons}}}{\'84wade\'93\emdash }{\v hidden}{\deleted swim}{\revised slowly\~here.}
\par {\listtext\pard\plain\f3 \'b7\tab}\pard \ql \fi-360\li720 {alder}
\par {\listtext\pard\plain\f3 \'b7\tab}{oak}
\par \pard\plain {\listtext\pard\plain 1.\tab}First\par
{\*\shppict{\pict\pngblip 89504e470d0a}}{\nonshppict{\pict 0123}}\trowd \trgaph70\cellx4000\cellx8000\pard\plain \intbl {Species}\cell {Pairs\par of 2024}\cell \pard \intbl {\trowd \cellx4000\cellx8000\row }
\trowd\cellx4000\cellx8000\pard\plain\intbl Tern | gull\cell 52\cell\row
\pard\plain After{\footnote \pard\plain {\super\chftn } Seen in 2024.\par Twice.}{\*\atnid AB}{\*\atnauthor Ann}\chatn {\*\annotation{\*\atndate 1}\pard\plain {\chatn}Check this.} it.\par }`
    expect(textOf(word)).toBe(
      [
        '# Birds of the lake',
        'Herons„wade“—slowly here.',
        '- alder\n- oak\n1. First',
        '| Species | Pairs of 2024 |\n| --- | --- |\n| Tern / gull | 52 |',
        'After (Seen in 2024. Twice.) [Comment by Ann: Check this.] it.',
        'Page header: Every page',
      ].join('\n\n'),
    )
  })

  it('keeps what is struck out apart', () => {
    const rtf = String.raw`${HEAD} Fee {\strike 40} 50{\striked1  late} {\strike a\strike0 b} \strike c\plain d\par}`
    expect(textOf(rtf)).toBe('Fee ~~40~~ 50 ~~late~~ ~~a~~b ~~c~~d')
  })

  it('is in the code page of its fonts, or of the document', () => {
    const fonts = String.raw`{\fonttbl{\f0\fnil Arial;}{\f1\fnil\fcharset204 Arial;}{\f2\fnil\fcharset128 MS Mincho;}{\f3\fnil\fcharset238 Arial;}}`
    const rtf = String.raw`{\rtf1\ansi\ansicpg1253\deff0${fonts}\f0 \'e1 {\f1 \'cc\'e8\'f0} {\f2 \'93\'fa\'96\'7b\'83A} {\f3 \'b3} \'e2\par}`
    expect(textOf(rtf)).toBe('α Мир 日本ア ł β')
  })

  it('is in Unicode, without the characters for old programs behind', () => {
    expect(
      textOf(
        String.raw`${HEAD} \u1052\'cc\u8217?s \uc2\u26085\'93\'fa!{\uc0\u233}\u-10179??\u-8704??}`,
      ),
    ).toBe('М’s 日!é😀')
  })

  it('of an unknown code page is read all the same, with a warning', () => {
    const { text, warnings } = extract(String.raw`{\rtf1\ansi\ansicpg437 caf\'e9}`)
    expect([text, warnings]).toEqual([
      'café',
      [
        expect.objectContaining({
          code: 'uncertain_encoding',
          message: expect.stringContaining('437'),
        }),
      ],
    ])
    expect(extract(String.raw`{\rtf1\ansi\ansicpg437 cafe}`).warnings).toBeUndefined()
  })

  it('has the text of shapes once, and of equations', () => {
    const shape = String.raw`{\shp{\*\shpinst\shpleft0{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard\plain In a box\par}}{\shprslt{\*\do In a box}}}`
    const equation = String.raw`{\mmath{\*\moMath{\mf{\mfPr{\mtype lin}}{\mnum{\mr a}}{\mden{\mr b}}}}}`
    expect(textOf(`${HEAD} ${shape}Sum ${equation}\\par}`)).toBe('In a box\n\nSum ab')
  })

  it('has a cell that is as wide as several in the first of their columns', () => {
    const row = (edges: number[], ...cells: string[]) =>
      String.raw`\trowd${edges.map((edge) => String.raw`\cellx${edge}`).join('')}\intbl ${cells.map((cell) => String.raw`${cell}\cell `).join('')}\row `
    const table = [
      row([900, 2000, 3000], 'Quay', 'Car', 'Bus'),
      row([2010, 3000], 'Both', '12'),
      row([900, 3000], '7', 'closed'),
    ].join('')
    expect(textOf(`${HEAD}${table}}`)).toContain('| Both |  | 12 |\n| 7 | closed |  |')
  })

  it('keeps what looks like markup, and its line breaks', () => {
    expect(textOf(`${HEAD} a\\{b\\}\\\\c\\line d\\\ne\\_f\\-g}`)).toBe('a{b}\\c\nd\n\ne-fg')
  })

  it('bounds a comment, not a footnote', () => {
    const long = 'x'.repeat(5_000)
    const text = textOf(
      String.raw`${HEAD} a{\*\annotation ${long} {\b ${long}}}{\footnote ${long}}}`,
    )
    expect(text).toBe(`a [Comment: ${'x'.repeat(2_000)}…] (${long})`)
  })
})

describe('Rich text that is broken or hostile', () => {
  it.each([
    ['breaks off in a group', String.raw`${HEAD} one {\b two`, 'one two'],
    ['breaks off in a table', String.raw`${HEAD} \intbl a\cell b`, '| a | b |\n| --- | --- |'],
    ['breaks off in a word', String.raw`${HEAD} one\pa`, 'one'],
    ['breaks off in a character', String.raw`${HEAD} one\'e`, 'onee'],
    ['closes more than it opened', `${HEAD} one}}}}\\v two}{\\rtf1 three}`, 'onethree'],
    ['has data without end', `${HEAD} one{\\bin99999999999 x`, 'one'],
    ['has words of no meaning', `${HEAD} one{\\constructor two}{\\toString three}`, 'onetwothree'],
  ])('%s', (_case, rtf, text) => expect(textOf(rtf)).toBe(text))

  it('skips binary data, whatever is in it', () => {
    expect(textOf(`${HEAD} one{\\pict\\bin5 {{}}{}two}`)).toBe('onetwo')
  })

  it('leaves nothing behind for the next file', () => {
    extract('{\\rtf1}\\v\\ansicpg1251')
    expect(textOf(String.raw`{\rtf1 caf\'e9}`)).toBe('café')
  })

  it('is refused where it nests without end', () => {
    const deep = () => extract(`${HEAD}${'{'.repeat(1_000_000)}`)
    expect(deep).toThrow(expect.objectContaining({ code: 'file_too_complex' }))
  })

  const expectTooLong = (body: string) =>
    expect(() => extract(`${HEAD} ${body}}`)).toThrow(
      expect.objectContaining({ code: 'text_too_long' }),
    )

  it('is refused with too much text', onlyLong, () => expectTooLong('x'.repeat(50_000_001)))

  it('is refused with too many cells', { ...onlyLong, timeout: 120_000 }, () =>
    expectTooLong('\\cell'.repeat(17_000_000)),
  )

  it.each(
    someOf(
      [
        ['words', '\\b'.repeat(1_000_000)],
        ['groups', '{}'.repeat(1_000_000)],
        ['characters of their own', "\\'41".repeat(500_000)],
        ['spaces', ' '.repeat(5_000_000)],
        ['a word without end', `\\${'b'.repeat(5_000_000)}`],
        ['a number without end', `\\b${'1'.repeat(5_000_000)}`],
        [
          'a wide row over many',
          `\\intbl ${'\\cell'.repeat(100_000)}\\row${'a\\cell\\row'.repeat(100_000)}`,
        ],
        ['comments', '{\\*\\annotation x}'.repeat(100_000)],
        ['fonts', `{\\fonttbl${'\\f1\\fcharset204'.repeat(200_000)}}`],
      ],
      2,
    ),
  )('is read in little time: %s', long, (_case, body) => {
    const started = processorMs()
    extract(`${HEAD}${body}}`)
    expect(processorMs() - started).toBeLessThan(5_000)
  })
})

describe('Of rich text', () => {
  it.each([
    [
      'what stands above or below the line keeps apart',
      String.raw`45{\*\cs16\super 2} crowns, 10{\super 6}, CO\sub 2\nosupersub , 3\up6 4\up0 5`,
      '45^2 crowns, 10^6, CO₂, 3^{4}5',
    ],
    [
      'a group within a run is read that begins with a style',
      String.raw`Before {\i0\b0\*\cs7\cf0 within} after`,
      'Before within after',
    ],
    [
      'ticks of forms are read',
      String.raw`{\field{\*\fldinst FORMCHECKBOX {\*\formfield{\fftype1\ffres25\ffdefres1}}}{\fldrslt}}Moored {\field{\*\fldinst FORMCHECKBOX {\*\formfield{\fftype1\ffres0}}}{\fldrslt}}Adrift`,
      '[x] Moored [ ] Adrift',
    ],
    [
      'choices of forms are read',
      String.raw`Sea: {\field{\*\fldinst FORMDROPDOWN {\*\formfield{\fftype2\ffres1{\*\ffl Arctic}{\*\ffl Baltic}}}}{\fldrslt}}`,
      'Sea: Baltic',
    ],
    [
      'what stands on every page comes once, even alone',
      String.raw`{\header Issue 6\par}{\headerf Issue 6\par}{\footer Owner: Dock 5\par}`,
      'Page header: Issue 6\n\nPage footer: Owner: Dock 5',
    ],
    [
      'numbers of clauses are kept',
      String.raw`{\listtext 2.1.2\tab}one\par{\listtext \'a7 4\tab}two\par{\listtext (b)\tab}three\par`,
      '2.1.2 one\n§ 4 two\n(b) three',
    ],
  ])('%s', (_case, rtf, text) => expect(textOf(`${HEAD} ${rtf}}`)).toBe(text))
})
