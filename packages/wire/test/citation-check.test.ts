import { describe, expect, it } from 'vitest'
import { long, someOf } from '../../../test/support/long.ts'
import { longestTurn } from '../../../test/support/turn-probe.ts'
import { CitationCheck, CitationReader, withoutCitations } from '../src/citation-check.ts'

/** Three things were retrieved. */
const HITS = 3

function check(pieces: readonly string[], hits = HITS, isJsonAsked = false) {
  const unknown: number[] = []
  const known = {
    has: (number: number) => number >= 1 && number <= hits,
    onUnknown: (number: number) => unknown.push(number),
  }
  const citations = new CitationCheck(known, isJsonAsked)
  const shown = pieces.map((piece) => citations.write(piece))
  return { shown, text: [...shown, citations.end()].join(''), unknown }
}

const FENCE = '```'
/** What a model says, what is shown of it, and which numbers were unknown. */
const CASES: readonly [said: string, shown: string, unknown: readonly number[]][] = [
  // Single numbers.
  ['Owls hoot [1].', 'Owls hoot [1].', []],
  ['Owls hoot [7].', 'Owls hoot [?].', [7]],
  ['Owls[3] hoot[4]', 'Owls[3] hoot[?]', [4]],
  ['[0] and [007] and [003]', '[?] and [?] and [003]', [0, 7]],
  ['[1][9][2]', '[1][?][2]', [9]],
  ['[8][9]', '[?][?]', [8, 9]],
  ['猫頭鷹[5]。🦉[2]🦉[6]', '猫頭鷹[?]。🦉[2]🦉[?]', [5, 6]],
  ['[[7]] and [ 2 ]', '[[?]] and [2]', [7]],
  // Lists and ranges.
  ['Both [1, 2].', 'Both [1][2].', []],
  ['Both [1,9; 2].', 'Both [1][2][?].', [9]],
  ['All [1-3], [1 – 2], [2—5].', 'All [1][2][3], [1][2], [2][3][?].', [4, 5]],
  ['95 % CI [12, 45]', '95 % CI (12, 45)', [12, 45]],
  ['x in [0, 1], of [0-9], [3-1], [1-999]', 'x in [0, 1], of [0-9], [3-1], [1-999]', []],
  ['[1][8, 9]', '[1][?]', [8, 9]],
  // JSON.
  ['{"a": [1, 7], "b": "[1, 7]"}', '{"a": [1, 7], "b": "[1][?]"}', [7]],
  ['\n {"a": "\\"[7]", "b": [[7]]}', '\n {"a": "\\"[?]", "b": [[7]]}', [7]],
  ['{"a": [7]} as [7] says', '{"a": [7]} as [?] says', [7]],
  ['{so} it is [7]', '{so} it is [?]', [7]],
  // What is no citation.
  ['[2019] EWCA 1', '(2019) EWCA 1', []],
  ['the [1990-1995] series', 'the (1990-1995) series', []],
  ['[1][2019]', '[1][?]', []],
  ['[1.5, 7] [7a] [^7] [-7] [,7] [] [ ] [x] [7', '[1.5, 7] [7a] [^7] [-7] [,7] [] [ ] [x] [7', []],
  [`[${'7, '.repeat(70)}7]`, `[${'7, '.repeat(70)}7]`, []],
  [
    'see [9](https://example.org/9) and [1, 9](x)',
    'see [9](https://example.org/9) and [1, 9](x)',
    [],
  ],
  ['see [9] (there)', 'see [?] (there)', [9]],
  ['![7](x.png) [text][7]', '![7](x.png) [text][?]', [7]],
  // Code.
  ['take `a[7]` and `` b`[8] `` [9]', 'take `a[7]` and `` b`[8] `` [?]', [9]],
  ['an open ` here [7]\nends [8]', 'an open ` here [?]\nends [?]', [7, 8]],
  [`Do:\n${FENCE}js\nx[7]\n[8]\n${FENCE}\n[9]`, `Do:\n${FENCE}js\nx[7]\n[8]\n${FENCE}\n[?]`, [9]],
  [`1. ${FENCE}\n   [7]\n   ${FENCE}\n[9]`, `1. ${FENCE}\n   [7]\n   ${FENCE}\n[?]`, [9]],
  ['~~~~\n[7]\n~~~\n[8]\n~~~~\n[9]', '~~~~\n[7]\n~~~\n[8]\n~~~~\n[?]', [9]],
  [`${FENCE}x[7]${FENCE} [8]`, `${FENCE}x[7]${FENCE} [?]`, [8]],
  [`${FENCE}\n[7] to the end`, `${FENCE}\n[7] to the end`, []],
  ['a~~b~~ [7]', 'a~~b~~ [?]', [7]],
  ['a[7] = row_sum[8][9]; [4]', 'a[7] = row_sum[8][9]; [?]', [4]],
  ['so $M = [1, 2]$ and \\([7]\\) [4]', 'so $M = [1, 2]$ and \\([7]\\) [?]', [4]],
  ['so\n$$\n[7]\n$$\n[4]', 'so\n$$\n[7]\n$$\n[?]', [4]],
  ['for $5 and $6 [7]', 'for $5 and $6 [?]', [7]],
  ['so $2\\sqrt[7]{x}$ [4]', 'so $2\\sqrt[7]{x}$ [?]', [4]],
  // Indented code.
  [
    'Do:\n\n    x = dp[1]\n    y = [1, 7]\n\nSo [7].',
    'Do:\n\n    x = dp[1]\n    y = [1, 7]\n\nSo [?].',
    [7],
  ],
  ['Do:\n\n\ty = [7]\n\n\tz = [8]\nSo [9].', 'Do:\n\n\ty = [7]\n\n\tz = [8]\nSo [?].', [9]],
  ['    [7]\n[8]', '    [7]\n[?]', [8]],
  ['It goes on\n    here [7].', 'It goes on\n    here [?].', [7]],
  [
    '- One\n\n    goes on [7]\n\n        y = [8]\n',
    '- One\n\n    goes on [?]\n\n        y = [8]\n',
    [7],
  ],
  [
    '10. One:\n\n    is text [7]\n\nNext:\n\n    y = [8]',
    '10. One:\n\n    is text [?]\n\nNext:\n\n    y = [8]',
    [7],
  ],
  ['> Do:\n>\n>     y = [7]\n> so [8]', '> Do:\n>\n>     y = [7]\n> so [?]', [8]],
  // Elements.
  ['<pre>\ny = [7]\n\nz = [8]</pre> so [9]', '<pre>\ny = [7]\n\nz = [8]</pre> so [?]', [9]],
  [
    '<pre><code class="x">y = [7]\n</code></pre>\n[9]',
    '<pre><code class="x">y = [7]\n</code></pre>\n[?]',
    [9],
  ],
  ['call <code>f[7]([8])</code> so [9]', 'call <code>f[7]([8])</code> so [?]', [9]],
  ['the <pre> element [7], and <code too [8]', 'the <pre> element [?], and <code too [?]', [7, 8]],
  ['<previous> [7]', '<previous> [?]', [7]],
  // Marks of other models.
  ['Owls hoot【1】and sleep【7】.', 'Owls hoot[1]and sleep[?].', [7]],
  ['Owls hoot【2†L5-L9】【3†source】.', 'Owls hoot[2][3].', []],
  ['Owls hoot ［1］ and 〔2〕.', 'Owls hoot [1] and [2].', []],
  [
    'Owls [cite: 1, 3] hoot [Source 2] or [citation:1] not [Sources 2-3].',
    'Owls [1][3] hoot [2] or [1] not [2][3].',
    [],
  ],
  ['Owls [1†source] hoot [doc 7].', 'Owls [1] hoot [?].', [7]],
  ['【1】 Heading\n【2019】 as in 〔2020〕', '【1】 Heading\n【2019】 as in 〔2020〕', []],
  [
    '[source] [docs: x] [Reference 2](x) [sourced 1] 【注】',
    '[source] [docs: x] [Reference 2](x) [sourced 1] 【注】',
    [],
  ],
  ['Plan B[7], naïveté[8], 2x[9]', 'Plan B[?], naïveté[?], 2x[?]', [7, 8, 9]],
]

describe('A citation in an answer', () => {
  it.each(CASES)('%j is shown as %j', (said, shown, unknown) => {
    expect(check([said])).toMatchObject({ text: shown, unknown })
  })

  it('is the same wherever the answer is split in two or three', () => {
    for (const [said, shown, unknown] of CASES) {
      const places = Array.from({ length: said.length + 1 }, (_, place) => place)
      const cuts = places.flatMap((first) =>
        places.filter((last) => last >= first && said.length < 60).map((last) => [first, last]),
      )
      for (const [first = 0, last = 0] of [...cuts, ...places.map((place) => [place, place])]) {
        const pieces = [said.slice(0, first), said.slice(first, last), said.slice(last)]
        expect(check(pieces)).toMatchObject({ text: shown, unknown })
      }
    }
  })

  it('is the same if each character arrives alone', () => {
    for (const [said, shown, unknown] of CASES) {
      expect(check(said.split(''))).toMatchObject({ text: shown, unknown })
    }
  })

  it('holds nothing back but brackets with numbers, beginnings of lines and code', () => {
    for (const [said] of CASES) {
      const { shown } = check(said.split(''), 1_000)
      let length = 0
      for (const [index, text] of shown.entries()) {
        length += text.length
        const held = said.slice(0, index + 1).slice(length)
        // Marks that are written anew are longer or shorter than they were.
        if (said.startsWith(shown.slice(0, index + 1).join(''))) {
          expect(held).toMatch(
            /^(?:[[【［〔][\w ,;:†\u2013\u2014-]*[\]】］〕]?)?(?:[\s>*+\-.)\d]*(?:[`~].*)?|\\|<\/?(?:[a-z]*|(?:pre|code)\b.*)|(?:\$|\\\().*)$/s,
          )
        }
      }
    }
  })

  it('that is known is shown with its last bracket', () => {
    expect(check(['Owls', ' [', '2', ']', '.']).shown).toEqual(['Owls', ' ', '', '[2]', '.'])
  })

  it('that is unknown waits for the one character that would make it a link', () => {
    expect(check(['[9]', '.']).shown).toEqual(['', '[?].'])
    expect(check(['[9]', '(x)']).shown).toEqual(['', '[9](x)'])
  })

  it('is held back for no longer than a mark can be', () => {
    const { shown } = check(['[', ...Array.from({ length: 300 }, () => '1, ')])
    expect(shown.findIndex((text) => text !== '')).toBeLessThan(100)
    expect(shown.join('')).toHaveLength(901)
  })

  it('may have any number that was given out', () => {
    expect(check(['[2019] and [1200-1201]'], 3_000).text).toBe('[2019] and [1200][1201]')
  })

  it('is checked in time that grows with the answer and no faster', () => {
    const text = `${'[1, '.repeat(20_000)}${'_a'.repeat(20_000)}${'`'.repeat(20_000)}`
    expect(check([text]).text).toBe(text)
  })
})

describe('The citations of an answer that was asked for as JSON', () => {
  it.each([
    ['[1, 7]', '[1, 7]', []],
    [
      '[[7], {"why": "as [7] says", "rows": [7]}]',
      '[[7], {"why": "as [?] says", "rows": [7]}]',
      [7],
    ],
    ['"as [7] says"', '"as [?] says"', [7]],
    ['{"a": [7]}\n\nas [7] says', '{"a": [7]}\n\nas [?] says', [7]],
  ])('are those in its strings: %s', (said, shown, unknown) => {
    for (let cut = 0; cut <= said.length; cut++) {
      const result = check([said.slice(0, cut), said.slice(cut)], HITS, true)
      expect(result).toMatchObject({ text: shown, unknown })
    }
  })
})

describe('The text of an earlier answer', () => {
  it.each([
    ['At nine [1]. At ten [2][3], or [?].', 'At nine. At ten, or.'],
    ['At nine [1, 2].', 'At nine.'],
    ['`row[1]` and a [1](https://example.org)', '`row[1]` and a [1](https://example.org)'],
    ['```\nrows[2]\n[3]\n```', '```\nrows[2]\n[3]\n```'],
    ['No numbers [at all].', 'No numbers [at all].'],
  ])('loses its numbers, but for code and links: %s', async (text, expected) => {
    expect(await withoutCitations(text, new AbortController().signal)).toBe(expected)
  })

  it.each(someOf([' ', '$', '\\(', '[ '], 1))(
    'leaves others their turn where it is long: %j',
    long,
    async (shape) => {
      const text = `[${shape.repeat(500_000)}`
      const { signal } = new AbortController()
      expect(await longestTurn(() => withoutCitations(text, signal))).toBeLessThan(250)
    },
  )
})

it('What a text cites is found at its place, and no number that was given to nothing', () => {
  const reader = new CitationReader(false)
  for (const piece of ['Owls [', '2], 🦉 [0], [4] and [1, 3], not `[', '1]`.']) reader.write(piece)
  expect(reader.end(3)).toEqual([
    { number: 2, index: 5 },
    { number: 1, index: 26 },
    { number: 3, index: 29 },
  ])
})

it('What a text cites is found behind years in other brackets', () => {
  const reader = new CitationReader(false)
  reader.write('依〔' + '2019-2023' + '〕規划 [1]')
  expect(reader.end(3)).toEqual([{ number: 1, index: 15 }])
})
