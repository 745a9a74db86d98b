import { createAnalyser } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { checkStatements } from '../../../src/agent/citations/cited-statements.ts'
import { hitOf } from '../../support/hit.ts'
import { long, someOf } from '../../support/long.ts'
import { processorMs } from '../../support/processor-time.ts'
import { longestTurn } from '../../support/turn-probe.ts'

const PASSAGES = [
  'The library opens at nine on weekdays and at ten on Saturdays. Dogs must wait outside.',
  'Overdue books cost 20 pence a day, at most £1,500.50. They are not lent again.',
  'The founder, Ada Lovelace, gave 1200 volumes in 1842. The reading room followed.',
  '本は四週間借りられます。映画は一週間です。',
]
const HITS = PASSAGES.map((text, place) => ({
  ...hitOf(`${place}`),
  title: 'The rules',
  text,
  start: 100 * place,
  end: 100 * place + text.length,
}))
const analyser = createAnalyser('english')
const options = {
  termsOf: (text: string) => analyser.query(text).terms,
  isJsonAsked: false,
  writerOf: () => 'model' as const,
}
const { signal } = new AbortController()
const check = async (answer: string, hits = HITS) =>
  (await checkStatements(answer, hits, options, signal)).map(({ citation }) => citation)
const supportOf = async (answer: string) => (await check(answer)).map(({ supported }) => supported)
const quotedBy = async (answer: string) =>
  (await check(answer)).map(({ quotes }) => quotes.map(({ text }) => text).join(' '))

describe('A citation', () => {
  it('has the sentence of its passage that comes closest, with its place in the document', async () => {
    expect(await check('Dogs wait outside [1].')).toEqual([
      {
        at: 18,
        number: 1,
        by: 'model',
        quotes: [{ text: 'Dogs must wait outside.', start: 63, end: 86 }],
        supported: true,
      },
    ])
  })

  it('has the page on which its sentence begins', async () => {
    const passage = 'Cats may come in.\n\n\f\n\f\nDogs must wait\n\f\noutside. Birds may not.'
    const pageOf = async (answer: string, pageEnd: number | undefined, end = passage.length) => {
      const paged = { ...hitOf('1'), text: passage, start: 0, end, page: 3, pageEnd }
      return (await check(answer, [paged]))[0]?.quotes[0]?.page
    }
    expect(await pageOf('Cats may come in [1].', 6)).toBe(3)
    expect(await pageOf('Dogs wait outside [1].', 6)).toBe(5)
    expect(await pageOf('Birds may not [1].', 6)).toBe(6)
    // What is not the text of the document says nothing of its pages, unless there is one.
    expect(await pageOf('Birds may not [1].', 6, 0)).toBeUndefined()
    expect(await pageOf('Birds may not [1].', undefined, 0)).toBe(3)
    expect((await check('Dogs wait outside [1].'))[0]?.quotes[0]).not.toHaveProperty('page')
  })

  it('has no offsets where the text is not that of the document', async () => {
    const rows = HITS.map((hit) => ({ ...hit, start: 0, end: 0 }))
    expect((await check('Dogs wait outside [1].', rows))[0]?.quotes).toEqual([
      { text: 'Dogs must wait outside.' },
    ])
  })

  it.each([
    ['Dogs wait outside. [1] Books cost 20 pence [2].', 'Dogs must wait outside.'],
    ['[1] Dogs wait outside.', 'Dogs must wait outside.'],
    ['- Cost: 20 pence\n- Dogs wait outside [1]', 'Dogs must wait outside.'],
    ['| Dogs | outside |\n|---|---|\n| wait outside [1] | dogs |', 'Dogs must wait outside.'],
    ['借りられる期間は本が四週間[4]。', '本は四週間借りられます。'],
  ])('stands for its statement: %s', async (answer, quote) => {
    expect((await quotedBy(answer))[0]).toContain(quote)
  })

  it('quotes a sentence whole that has an abbreviation', async () => {
    const text = 'The museum is new. It was opened by Dr. Lovelace in the presence of Mrs. Hopper.'
    const hits = HITS.map((hit) => ({ ...hit, text, end: hit.start + text.length }))
    expect(
      (await check('Lovelace opened it [1].', hits))[0]?.quotes.map((quote) => quote.text),
    ).toEqual(['It was opened by Dr. Lovelace in the presence of Mrs. Hopper.'])
  })

  it('after another one supports the text between them', async () => {
    expect(
      await quotedBy('Dogs must wait outside [1], and overdue books cost 20 pence [2].'),
    ).toEqual(['Dogs must wait outside.', 'Overdue books cost 20 pence a day, at most £1,500.50.'])
  })

  it.each([
    ['Books that are overdue cost 20 pence a day [2].', true],
    ['Overdue books cost at most £1500.50 [2].', true],
    ['The library opens at 9 on weekdays [1].', true],
    ['In 1842 Ada Lovelace gave 1,200 volumes [3].', true],
    ['Overdue books are not lent again [2].', true],
    ['Overdue books cost 25 pence a day [2].', false],
    ['The founder, Grace Hopper, gave 1200 volumes [3].', false],
    ['Dogs must not wait outside [1].', false],
    ['The reading room has forty chairs, tables and lamps [3].', false],
    ['Overdue books cost 20 pence a day [1].', false],
    ['Die Hunde warten vor der Tür, und das ist gut so [1].', undefined],
  ])('says whether its passage carries the statement: %s', async (answer, supported) => {
    expect(await supportOf(answer)).toEqual([supported])
  })

  it.each([
    ['The old mill was bought for 40,000 pounds in 1911 [1].', true],
    ['In 1911 the old mill was bought for 40 thousand pounds [1].', true],
    ['The old mill was bought for 90,000 pounds in 1911 [1].', false],
    [
      'The old mill was bought in March 1911 by Henry Boole for 40,000 pounds and repaired [1].',
      false,
    ],
    [
      'The new mill was sold by Clara Boole in March 1938 for 90,000 pounds after a fire [1].',
      false,
    ],
    ['The new mill opened after the war [1].', false],
    ['The new mill opened before the war [1].', true],
    ['The old mill was never repaired [1].', false],
    ['It is impossible to visit the cellar, which is not open [1].', true],
  ])('is checked against the sentence that says the same: %s', async (answer, supported) => {
    const text =
      'The old mill was bought in March 1911 by Henry Marsh for 40,000 pounds and repaired. ' +
      'The new mill was sold by Clara Boole in May 1938 for 90,000 pounds after a fire in October. ' +
      'The new mill opened before the war. Visitors are refused at the cellar, which is closed.'
    const hits = [{ ...hitOf('1'), title: 'Mills', text, start: 0, end: text.length }]
    expect((await check(answer, hits)).map((citation) => citation.supported)).toEqual([supported])
  })

  it.each([
    ['Revenue in 2024 was 8.5 million [1].', true],
    ['Revenue in 2024 was 9.5 million [1].', false],
    ['The loan was 8.2 million [1].', true],
    ['The fund holds 2.5 billion [1].', true],
    ['The visit takes no more than 3 hours [1].', true],
    ['Visitors pay nothing for entry [1].', true],
  ])(
    'has numbers in any scale, and says in other words what is allowed: %s',
    async (answer, supported) => {
      const text =
        'In millions: revenue in 2024 was 8.5. The loan was 8,200,000. The fund holds 2.5bn. ' +
        'The visit takes at most 3 hours. Entry for visitors is free to pay.'
      const hits = [{ ...hitOf('1'), title: 'Report', text, start: 0, end: text.length }]
      expect((await check(answer, hits)).map((citation) => citation.supported)).toEqual([supported])
    },
  )

  it('supports a statement together with adjacent marks', async () => {
    const answer = 'The library opens at nine, and Ada Lovelace gave 1200 volumes'
    expect(await supportOf(`${answer} [1][3].`)).toEqual([true, true])
    expect(await supportOf(`${answer} [1].`)).toEqual([false])
  })

  it('is not recognised in code or JSON', async () => {
    expect(await check('`Dogs [1]`')).toEqual([])
    const asJson = { ...options, isJsonAsked: true }
    expect(await checkStatements('{"dogs": [1]}', HITS, asJson, signal)).toEqual([])
  })

  it.each([
    ['The club won the cup in 2018 and in 2019 [1].', true],
    ['It was the 2nd cup of the club, in 2020 [1].', false],
    ['The German side and its keeper Manuel Neuer won in Berlin, said Oliver Kahn [1].', true],
    ['The French side and its keeper Hugo Lloris won in Paris, said Oliver Kahn [1].', false],
    ['The side of Ireland won the cup [1].', false],
  ])(
    'knows seasons, forms of a name, and one stranger among many names: %s',
    async (answer, supported) => {
      const text =
        'In the season 2018–19 the side of Germany won its second cup in Berlin, with Neuer as keeper, as Oliver Kahn says.'
      const hits = [{ ...hitOf('1'), text, end: text.length }]
      expect((await check(answer, hits)).map((citation) => citation.supported)).toEqual([supported])
    },
  )

  it.each([
    [
      'english',
      'Lena Berg runs the harbour office in Kiel. The archive of the port was moved to Lübeck by Jan Voss in spring.',
      'Jan Voss moved the archive of the port to Lübeck [1].',
      'Jan Voss moved the archive of the port to Kiel [1].',
    ],
    [
      'german',
      'Das Hafenamt in Kiel leitet Lena Berg. Das Archiv des Hafens brachte Jan Voss im Frühjahr nach Lübeck. Die Schlüssel liegen beim Pförtner, der Aufzug fährt nur werktags, und die Bücher stehen im Keller des alten Speichers.',
      'Das Archiv des Hafens brachte Jan Voss nach Lübeck [1].',
      'Das Archiv des Hafens brachte Jan Voss nach Kiel [1].',
    ],
    [
      'german',
      'Der Bescheid kommt vom Bauamt. Den Antrag prüft das Ordnungsamt innerhalb von zwei Wochen. Die Gebühr zahlt der Antragsteller an der Kasse im Erdgeschoss, wo auch die Formulare liegen, die jeder mitnehmen darf.',
      'Den Antrag prüft das Ordnungsamt innerhalb von zwei Wochen [1].',
      'Den Antrag prüft das Bauamt innerhalb von zwei Wochen [1].',
    ],
  ] as const)(
    'does not support a name of another sentence in the place of its own: %s %s',
    async (language, text, said, exchanged) => {
      const terms = createAnalyser(language)
      const inLanguage = { ...options, termsOf: (words: string) => terms.query(words).terms }
      const hits = [{ ...hitOf('1'), title: '', text, end: text.length }]
      const supported = async (answer: string) =>
        (await checkStatements(answer, hits, inLanguage, signal))[0]?.citation.supported
      expect([await supported(said), await supported(exchanged)]).toEqual([true, false])
    },
  )

  it.each([
    ['Klara Wendt leitete das Stadtbad nach dem Krieg bis 1962 [1].', true],
    ['Paula Kern leitete das Stadtbad nach dem Krieg bis 1962 [1].', false],
    ['Das Bad wurde nach Plänen von Otto Brandt gebaut [1].', false],
    ['Viele Gäste kommen im Sommer aus Altstetten [1].', false],
    ['Nach dem Krieg leitete sie die Kern-Stiftung bis 1962 [1].', false],
    // Nouns that the passage lacks: behind an article or adjective, in place of a compound, and of a set phrase.
    ['Klara Wendt leitete das Gebäude nach dem Krieg bis 1962 [1].', true],
    ['Der Bau wurde nach guten Zeichnungen von Emil Harter gebaut [1].', true],
    ['Viele Badegäste kommen im Sommer aus Neudorf [1].', true],
    ['Viele Besucher kommen im Sommer aus Neudorf [1].', true],
    ['Nach Angaben der Gemeinde kommen im Sommer täglich 800 Gäste [1].', true],
  ])('tells names from nouns where both have capitals: %s', async (answer, supported) => {
    const german = createAnalyser('german')
    const inGerman = { ...options, termsOf: (words: string) => german.query(words).terms }
    const text =
      'Das Stadtbad Rosenhain wurde 1911 nach Plänen von Emil Harter gebaut. Die Halle fasst zwei Becken, eine Sauna und ein Café. Nach dem Krieg leitete Klara Wendt das Haus bis 1962. Heute gehört es der Gemeinde, die den Eintritt für Kinder und Rentner senkte. Im Sommer kommen täglich rund 800 Gäste, viele davon aus Neudorf.'
    const hits = [{ ...hitOf('1'), title: 'Stadtbad', text, end: text.length }]
    const [cited] = await checkStatements(answer, hits, inGerman, signal)
    expect(cited?.citation.supported).toBe(supported)
  })

  it.each([
    ['Gemäß Richtlinie haben Beschäftigte im Kalenderjahr Anspruch auf 30 Urlaubstage [1].', true],
    ['Pro Kalenderjahr haben Mitarbeiter Anspruch auf 30 Urlaubstage [1].', true],
    ['Per Gesetz verfallen nicht genommene Tage im März [1].', true],
    ['Nach Ablauf des Jahres verfallen nicht genommene Tage im März [1].', true],
    ['Es gibt Fristen: Nicht genommene Tage verfallen im März [1].', true],
    ['Bei Hitze über 30 Grad Celsius haben Angestellte frei [1].', true],
    ['Nicht genommene Tage verfallen bei Siemens im März [1].', false],
  ])('takes a noun in plain German for no name: %s', async (answer, supported) => {
    const german = createAnalyser('german')
    const inGerman = { ...options, termsOf: (words: string) => german.query(words).terms }
    const text =
      'Beschäftigte haben im Kalenderjahr Anspruch auf 30 Urlaubstage. Nicht genommene Tage verfallen im März. Bei Hitze über 30 Grad haben sie frei.'
    const hits = [{ ...hitOf('1'), title: 'Urlaub', text, end: text.length }]
    const [cited] = await checkStatements(answer, hits, inGerman, signal)
    expect(cited?.citation.supported).toBe(supported)
  })

  it.each([
    ['Emil Harter entwarf das Gebäude von 1911 [1].', true],
    ['Otto Brandt entwarf das Gebäude von 1911 [1].', false],
  ])('knows a German passage that is short: %s', async (answer, supported) => {
    const german = createAnalyser('german')
    const inGerman = { ...options, termsOf: (words: string) => german.query(words).terms }
    const text = 'Der Meister Emil Harter entwarf das Bad, das im Jahr 1911 eröffnet wurde.'
    const hits = [{ ...hitOf('1'), title: '', text, end: text.length }]
    const [cited] = await checkStatements(answer, hits, inGerman, signal)
    expect(cited?.citation.supported).toBe(supported)
  })

  it('takes a short English passage with IST, IM or Dem for no German one', async () => {
    const text = 'The IST lab in Vienna sent an IM to Dem senator Robert Miller about snow.'
    const hits = [{ ...hitOf('1'), title: '', text, end: text.length }]
    const supported = async (answer: string) => (await check(answer, hits))[0]?.supported
    expect(await supported('The lab sent an IM to senator Robert Miller about snow [1].')).toBe(
      true,
    )
    expect(await supported('The lab sent an IM to the Berlin senator about snow [1].')).toBe(false)
  })

  it('takes the beginning of a date for no two years', async () => {
    const text = 'The bridge was opened on 2018-11-05.'
    const hits = [{ ...hitOf('1'), text, end: text.length }]
    const supported = async (answer: string) => (await check(answer, hits))[0]?.supported
    expect(await supported('The bridge was opened in month 11 of 2018 [1].')).toBe(true)
    expect(await supported('The bridge was opened in 2011 [1].')).toBe(false)
  })

  it('is listed beyond the number that is compared, and takes bounded time', async () => {
    const answer = 'Dogs wait outside and overdue books cost 20 pence a day [1][2]. '.repeat(2_000)
    const before = processorMs()
    const checked = await check(answer)
    expect(processorMs() - before).toBeLessThan(1_000)
    expect(checked).toHaveLength(4_000)
    expect(checked.at(-1)).toEqual({ at: answer.length - 5, number: 2, by: 'model', quotes: [] })
  })

  it.each(
    someOf(
      [
        ['a sentence without an end', 'Dogs wait outside and overdue books cost 20 pence [1] and '],
        ['a sentence in each line', 'Dogs wait outside [1].\n'],
        ['paragraphs', 'Dogs wait.\n\n'],
        ['blank lines', '\n'],
        ['blanks', ' '],
        ['lines of a paragraph', 'a\n'],
        ['rows of a table', '| dogs | wait [1] |\n'],
        ['marks alone', '[1][2][3]'],
      ],
      2,
    ),
  )('is compared without holding others up, in an answer of %s', long, async (_, shape) => {
    const answer = `${shape.repeat(1_000_000 / shape.length)} Dogs must wait outside [1].`
    expect(await longestTurn(() => check(answer))).toBeLessThan(50)
  })
})
