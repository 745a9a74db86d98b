import { everything } from '@agent-server/lib/visibility.ts'
import { createAnalyser } from '@agent-server/search'
import type { StoredChunk } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { favourNamed, namingOf } from '../../src/retrieval/named-documents.ts'

const { query: analyse } = createAnalyser('english')

function namingBy(question: string) {
  const naming = namingOf(question, analyse)
  if (!naming) throw new Error('The question has no year')
  return naming
}

/** Whether a document with this title, or this cover, is named; undefined for a title without a year. */
function namedBy(question: string) {
  const naming = namingBy(question)
  const isNamed = (shared: ReturnType<typeof naming.inTitle>) =>
    shared && ((shared.names?.length ?? 0) > 0 || shared.isWhole === true)
  return {
    byTitle: (title: string) => isNamed(naming.inTitle(title)),
    byCover: (text: string) => isNamed(naming.onCover(text)),
  }
}

describe('A question', () => {
  it.each([
    ['What did Adobe earn in FY2018?', 'ADOBE_2018_10K.pdf'],
    ['what did adobe earn in FY18?', 'ADOBE_2018_10K.pdf'],
    ['What did American Express earn in 2018?', 'AMERICANEXPRESS_2018_10K.pdf'],
    ['the net sales of 3M in 2018', '3M_2018_10K.pdf'],
    ['american express 2018 revenue', 'AMERICANEXPRESS_2018_10K.pdf'],
    ['restructuring at Amcor in 2023 Q2', 'AMCOR_2023Q2_10Q.pdf'],
    ['Which prices did the annual reports give for 2021?', 'Annual report FY21'],
    ['What did the Council decide in 2021?', 'Minutes of the council, 3 May 2021.docx'],
    ['the minutes of the council in may 2021', 'Minutes of the council, 3 May 2021.docx'],
  ])('names a title that has a word and a year of it: %s – %s', (question, title) => {
    expect(namedBy(question).byTitle(title)).toBe(true)
  })

  it.each([
    ['What did Adobe earn in 2018?', 'ADOBE_2017_10K.pdf'],
    ['What did Adobe earn in 2018?', 'AMCOR_2018_10K.pdf'],
    ['What was in 2018?', '2018.pdf'],
    ['What did Adobe earn in FY 2018?', 'PepsiCo FY2018.pdf'],
    ['What did Adobe earn in Q2 2018?', 'PepsiCo Q2 2018.pdf'],
    ['What does the 2018 10K of Adobe say?', 'PEPSICO_2018_10K.pdf'],
    ['What was in the year of 2018?', 'The one of 2018 in.pdf'],
    ['How many vacation days do employees on the team get in 2025?', 'Team meeting 2025-03.docx'],
    ['What is the per diem on trips in 2025?', 'Trips of the staff 2025-01.docx'],
    ['2025年员工有多少天假期？', '2025年会议记录.docx'],
    ['2024年の休暇は何日ですか', '議事録 2024年.pdf'],
    ['2024년 휴가는 며칠입니까', '회의록 2024년.pdf'],
  ])('does not name another title: %s – %s', (question, title) => {
    expect(namedBy(question).byTitle(title)).toBe(false)
  })

  it('does not tell by a title without a year', () => {
    expect(namedBy('What did Adobe earn in 2018?').byTitle('Adobe, part 12018')).toBeUndefined()
  })

  const COVER =
    'FORM 10-K\n\nFor the fiscal year ended December 2, 2018\n\nADOBE SYSTEMS INCORPORATED'

  it('names a cover that has a year and a word that it writes with a capital', () => {
    expect(namedBy('What did Adobe earn in FY18?').byCover(COVER)).toBe(true)
    expect(namedBy('Which systems were sold in the fiscal year 2018?').byCover(COVER)).toBe(false)
    expect(namedBy('What did Adobe earn in FY17?').byCover(COVER)).toBe(false)
  })

  it('names none without a year', () => {
    expect(namingOf('What did Adobe earn?', analyse)).toBeUndefined()
  })
})

interface Found extends Partial<StoredChunk> {
  score: number
}

/** The places of chunks in their order after “What did Adobe earn in 2018?”, and the documents whose covers were read. */
async function ranked(
  found: readonly Found[],
  covers: Record<string, string> = {},
  question = 'What did Adobe earn in 2018?',
) {
  const read: string[] = []
  const chunks = found.map(({ score, ...fields }, key): StoredChunk => {
    const place = { id: `c${key}`, ordinal: key, start: 0, end: 1, heading: '', text: 'x' }
    const document = {
      documentId: `d${key}`,
      title: undefined,
      url: undefined,
      metadata: undefined,
    }
    const labels = { collection: undefined, conversation: undefined }
    return { key, ...place, ...document, ...labels, ...fields }
  })
  const best = await favourNamed(
    {
      readChunks: async (_, keys) => ({
        chunks: keys.flatMap((key) => chunks[key] ?? []),
        missing: [],
      }),
      async listChunks(_, { documentId }) {
        read.push(documentId)
        const [chunk] = chunks
        const text = covers[documentId]
        return text && chunk ? { chunks: [{ ...chunk, text }], nextCursor: undefined } : undefined
      },
    },
    everything(),
    found.map(({ score }, key) => ({ key, score })),
    namingBy(question),
  )
  return { keys: best.map(({ key }) => key), read }
}

describe('Chunks of documents that a question names', () => {
  const rankedBy = async (titles: readonly string[], scores: readonly number[]) =>
    (await ranked(scores.map((score, place) => ({ score, title: titles[place] })))).keys
  const [asked, other] = ['ADOBE_2018_10K.pdf', 'ADOBE_2017_10K.pdf']

  it('come before those that are only a little better, in their order', async () => {
    expect(await rankedBy([other, other, asked, asked], [1, 0.9, 0.8, 0.7])).toEqual([2, 3, 0, 1])
  })

  it('come after those that are far better', async () => {
    const titles = [other, ...Array<string>(29).fill(asked)]
    const ranked = await rankedBy(titles, [10, ...Array<number>(29).fill(0)])
    expect(ranked.slice(0, 2)).toEqual([0, 1])
  })

  it('stay where all are named, or none', async () => {
    expect(await rankedBy([asked, asked], [2, 1])).toEqual([0, 1])
    expect(await rankedBy([other, other], [2, 1])).toEqual([0, 1])
    expect(await rankedBy(['', ''], [2, 1])).toEqual([0, 1])
  })

  it('stay where most documents are named', async () => {
    expect(await rankedBy([other, asked, asked], [3, 2, 1])).toEqual([0, 1, 2])
  })

  it('are looked for among the first two hundred', async () => {
    const titles = Array.from({ length: 300 }, (_, place) => (place === 250 ? asked : other))
    const scores = titles.map((_, place) => 300 - place)
    expect(await rankedBy(titles, scores)).toEqual(titles.map((_, place) => place))
  })

  it('are known by the first chunk of a file with pages whose title has no year', async () => {
    const paged = { page: 40, pageEnd: 40, title: 'report.pdf' }
    const found = [
      { score: 3, ...paged, documentId: 'of 2017' },
      { score: 2, ...paged, documentId: 'of 2018' },
      { score: 1, ...paged, title: other, documentId: 'dated' },
      { score: 0, title: 'notes.txt', documentId: 'without pages' },
    ]
    const covers = {
      'of 2017': 'Adobe in 2017',
      'of 2018': 'Adobe in 2018',
      dated: 'Adobe in 2018',
    }
    expect(await ranked(found, { ...covers, 'without pages': 'Adobe in 2018' })).toEqual({
      keys: [1, 0, 2, 3],
      read: ['of 2017', 'of 2018'],
    })
  })

  it('are known by the first chunks of no more than twenty documents', async () => {
    const found = Array.from({ length: 30 }, (_, place) => ({ score: 30 - place, page: 1 }))
    expect((await ranked(found)).read).toHaveLength(20)
  })

  it('are told apart by a name that not all of the year have', async () => {
    const companies = ['Pepsico', 'Boeing', 'Amcor', 'Adobe']
    const reports = companies.flatMap((name) => [2016, 2017, 2018].map((year) => ({ name, year })))
    const found = reports.map((_, place) => {
      return {
        score: 20 - place / 100,
        page: 9,
        title: `report-${place}.pdf`,
        documentId: `${place}`,
      }
    })
    const covers = reports.map(
      ({ name, year }) => `${name}\nState of Ohio. Year ended December 31, ${year}`,
    )
    const question = 'State the debt of Adobe as of December 31, 2018'
    const { keys } = await ranked(found, Object.fromEntries(covers.entries()), question)
    expect(keys.slice(0, 3)).toEqual([0, 11, 1])
  })
})
