import { createAnalyser } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { createCitations } from '../../../src/agent/citations/citations.ts'
import { hitOf } from '../../support/hit.ts'
import { onlyLong } from '../../support/long.ts'

const PASSAGES = [
  'The library opens at nine on weekdays and at ten on Saturdays.',
  'Books are lent for four weeks, films for one. Overdue books cost 20 pence a day.',
  'Dogs wait outside, e.g. at the fountain. Bags go into the lockers by 30 June.',
  '本は四週間借りられます。映画は一週間です。',
]
const analyser = createAnalyser('english')

function checkOf(isJsonAsked = false) {
  const citations = createCitations()
  citations.add(PASSAGES.map((text, index) => ({ ...hitOf(`${index}`), title: '', text })))
  return citations.check(isJsonAsked, (text) => analyser.query(text).terms)
}

function shown(pieces: readonly string[]): string[] {
  const check = checkOf()
  return [...pieces.map((piece) => check.write(piece)), check.end()]
}

const FENCE = '```'
/** What a model says, and what is shown of it. */
const REPAIRED: readonly [said: string, shown: string][] = [
  // Missing marks.
  ['Books are lent for four weeks.', 'Books are lent for four weeks [2].'],
  ['Books are lent for four weeks', 'Books are lent for four weeks [2]'],
  [
    'The library opens at nine. Books are lent for four weeks! Dogs wait outside.\n\nGood.',
    'The library opens at nine [1]. Books are lent for four weeks [2]! Dogs wait outside [3].\n\nGood.',
  ],
  [
    '- Books: lent for four weeks\n- dogs wait outside\n* bags go into the lockers\n* **films for one week**\n',
    '- Books: lent for four weeks [2]\n- dogs wait outside [3]\n* bags go into the lockers [3]\n* **films for one week**\n',
  ],
  ['“Books are lent for four weeks.” Good.', '“Books are lent for four weeks [2].” Good.'],
  [
    '本は四週間借りられます。映画は一週間です。',
    '本は四週間借りられます[4]。映画は一週間です[4]。',
  ],
  ['Lent for four\nweeks are books.\n', 'Lent for four\nweeks are books [2].\n'],
  ['Overdue books cost `20` pence.', 'Overdue books cost `20` pence [2].'],
  // Wrong marks.
  ['Books are lent for four weeks [3].', 'Books are lent for four weeks [2].'],
  [
    'Books are lent for four weeks. [3] Dogs wait outside.',
    'Books are lent for four weeks. [2] Dogs wait outside [3].',
  ],
  ['Books are lent for four weeks [1] [2] [3].', 'Books are lent for four weeks [2].'],
  ['Books are lent for four weeks [1, 3].', 'Books are lent for four weeks [2].'],
  [
    'The library opens at nine [2], books are lent for four weeks [1].',
    'The library opens at nine [1], books are lent for four weeks [2].',
  ],
  // Unknown ones: what the model cited stays said, and the source follows.
  ['Books are lent for four weeks [9].', 'Books are lent for four weeks [?][2].'],
  ['Books are lent for four weeks [9][7].', 'Books are lent for four weeks [?][2][?].'],
  ['Books are lent for four weeks [9][2].', 'Books are lent for four weeks [?][2].'],
  ['Books are lent for four weeks [2][9].', 'Books are lent for four weeks [2][?].'],
  ['So it is everywhere in the town [9].', 'So it is everywhere in the town [?].'],
  [
    'The passages do not say how books are lent for four weeks [9].',
    'The passages do not say how books are lent for four weeks [?].',
  ],
  ['[1] Books are lent for four weeks.', '[1] Books are lent for four weeks [2].'],
]

const KEPT: readonly string[] = [
  // Right marks, in any place.
  'Books are lent for four weeks [2].',
  'Books are lent for four weeks. [2] Dogs wait outside [3].',
  'Books are lent [2] for four weeks, and the library opens at nine [1].',
  '[2] Books are lent for four weeks. [3] Dogs wait outside.\n[1] The library opens at nine.',
  'Books are lent for four weeks [2].\n\n[1] The library opens at nine.',
  'Books are lent for four weeks [2][4].',
  // Other words, or another language, than any passage's.
  'You may keep what you borrow for a month [3].',
  'Bücher werden vier Wochen verliehen [3].',
  'Opening on weekdays is for films [1].',
  'Books, films, dogs and bags [1].',
  'Nothing is said of it.',
  'Books.',
  // No statements.
  'Are books lent for four weeks?',
  'Books are lent for four weeks:',
  '**Books lent for weeks**\n',
  '# Books lent for four weeks\n',
  '| Books | lent for four weeks |\n|---|---|\n| Dogs. | wait outside [2] |\n',
  `${FENCE}\nBooks are lent for four weeks.\n${FENCE}\nGood.`,
  `${FENCE}\nbooks are lent for four weeks [1]\n${FENCE}`,
  '{"answer": "Books are lent for four weeks.", "numbers": [3]}',
  '\n {"answer": "Books are lent for four weeks [3]."}',
  'See [books lent for four weeks](https://example.org/3) and [3](x).',
]

describe('A mark in an answer', () => {
  it.each(REPAIRED)('%j is shown as %j', (said, expected) => {
    expect(shown([said]).join('')).toBe(expected)
  })

  it.each(KEPT)('stays, or stays away: %j', (said) => {
    expect(shown([said]).join('')).toBe(said)
  })

  it('is set within a sentence only: not at an abbreviation or an ordinal number', () => {
    const said =
      'Dogs wait outside, e.g. At the fountain. Bags go there by 30. June into the lockers.'
    expect(shown([said]).join('')).toBe(
      'Dogs wait outside, e.g. At the fountain [3]. Bags go there by 30. June into the lockers [3].',
    )
  })

  it('is shown alike wherever the answer is cut in two, and where each character comes by itself', () => {
    for (const [said, expected] of [...REPAIRED, ...KEPT.map((text) => [text, text] as const)]) {
      for (let cut = 0; cut <= said.length; cut++) {
        expect(shown([said.slice(0, cut), said.slice(cut)]).join('')).toBe(expected)
      }
      expect(shown(said.split('')).join('')).toBe(expected)
    }
  })

  it('holds back only the mark and the pause before it', () => {
    expect(
      shown(['Books', ' are', ' lent for four weeks', '.', ' Good', ' [', '1', ']', '.']),
    ).toEqual(['Books', ' are', ' lent for four weeks', '', ' [2]. Good', '', '', '', ' [1]', '.'])
  })

  it('is not added to a truncated sentence', () => {
    const check = checkOf()
    expect(check.write('Books are lent for four ') + check.end(false)).toBe(
      'Books are lent for four ',
    )
  })

  it('is compared in time linear in the answer', onlyLong, () => {
    const text = `${'books [1] '.repeat(20_000)}${'. '.repeat(20_000)}${'...'.repeat(20_000)} x`
    expect(shown([text]).join('').length).toBeLessThanOrEqual(text.length)
  })
})

it('An answer that was asked for as JSON stays as it is', () => {
  const check = checkOf(true)
  const text = '["Books are lent for four weeks [3]."]'
  expect(check.write(text) + check.end()).toBe(text)
})
