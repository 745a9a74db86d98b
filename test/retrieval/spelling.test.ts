import { everything, type Visibility } from '@agent-server/lib/visibility.ts'
import { englishWords } from '@agent-server/models'
import { type AnalyserLanguage, createAnalyser } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { createSource, seen } from '../../packages/search/test/contracts/chunk-index.fixture.ts'
import { correctTerms, correctText, createSpelling } from '../../src/retrieval/spelling.ts'
import { openEmbeddedIndex } from '../support/embedded-index.ts'

const TEXTS = [
  'The password of the database is changed by the administrator.',
  'A replication slot keeps the files of the write-ahead log.',
  'The ferry leaves the harbour at noon. The harbour has three berths.',
  'Partitions of a table are made by range, and a partition may be a table.',
  'An error E1042 of ticket PROD-118 in prod_design ends the conversion.',
  'To go back, rest at the role of the last text, which merges what you sell by email.',
  'Iraq has a border. A quick zigzag, a slow boat of clay, a cell of bees.',
]
const SECRET = 'The takeover of Falkenberg is secret.'

/** Somebody who asks about documents. */
async function openSpelling(texts: readonly string[], language: AnalyserLanguage = 'english') {
  const analyser = createAnalyser(language)
  const realWords = ['english', 'none'].includes(language) ? englishWords : undefined
  const source = createSource()
  const index = await openEmbeddedIndex(source)
  const chunks = texts.map((text) => ({ heading: '', text }))
  const batch = analyser.batch(chunks)
  const keys = Uint32Array.from(chunks.keys())
  await index.add(keys, batch, [])
  for (const key of keys) source.metadata.set(key, { secret: texts[key] === SECRET })
  const store = {
    readChunks: async ({ conversations }: Visibility, wanted: readonly number[]) => ({
      chunks: wanted
        .filter((key) => conversations === 'all' || !texts[key]?.startsWith('Private'))
        .map((key) => ({ key, ...chunks[key] })),
      missing: [],
    }),
  } as unknown as Parameters<typeof createSpelling>[0]['store']
  const spelling = createSpelling({ index, store, analyser, language, realWords })
  const correct = (text: string, visibility = everything()) => spelling.correct(text, visibility)
  const corrected = async (text: string) => correctText(text, await correct(text))
  return { analyser, index, store, source, spelling, correct, corrected }
}

const { analyser, store, correct, corrected } = await openSpelling([...TEXTS, SECRET])

describe('The spelling of a question', () => {
  it.each([
    ['chnage the pasword of the databse', 'changed the password of the database'],
    ['When does the ferrry leave the harbou?', 'When does the ferry leave the harbour?'],
    ['paritioning by range', 'partitions by range'],
    ['Replicaton slots', 'replication slots'],
    ['replicaton slto man page', 'replication slto man page'],
    ['(ferrry), ferrry!', '(ferry), ferry!'],
    ['how is it in the conversoin?\nfirst asked', 'how is it in the conversion?\nfirst asked'],
  ])('“%s” becomes “%s”', async (typed, meant) => {
    expect(await corrected(typed)).toBe(meant)
  })

  it.each<[string, string]>([
    ['a word that documents have', 'a ferry without berths'],
    ['a word that is far from all', 'the ferry of the zoologist'],
    ['a short word', 'the fery'],
    ['a long word', 'the administraators'],
    ['what may be a stop word', 'thier ferry'],
    ['a code', 'error E1043 FERRYS_7 fery2'],
    [
      'a part of a code',
      'Ticket PROC-118 of proc_desing and proc-desing or proc/desing or proc.desing',
    ],
    ['a part of an address', 'pasword@databse.example http://pasword.example/databse'],
    ['capitals', 'PASWORD DATABSE'],
    ['capitals within', 'dataBse'],
    ['a name', 'who is Ferrry Harbourr'],
    ['quoted text', 'where is "the pasword" or “a databse” or `ferrry`'],
    ['a name in another script', 'паром 渡船'],
    ['words of another language', 'Wann verlässt die Ferri den Harboor?'],
    ['nothing', ''],
    ...[
      'Which bank has the best rate?',
      'nearest bus stop in Rome',
      'rent a tent',
      'Java or Rust?',
      'Anna Berg',
      'my wife get no mail',
      'Tell me',
      'Show me the list of boats',
      'Iran',
      'where is Iran',
      'a house in kazakhstan',
      'is the harbor ok',
      'sells clays',
      'can it parse the file',
    ].map((text): [string, string] => ['right words', text]),
  ])('is left as it is with %s: %s', async (_case, typed) => {
    expect(await corrected(typed)).toBe(typed)
  })

  it('is searched for beside what was typed, and counts as a share of it', async () => {
    const typed = analyser.query('ferry habrour')
    const found = await correct('ferry habrour')
    const { terms, counts, total } = correctTerms(typed, found)
    expect([...terms]).toEqual([...analyser.query('ferry habrour harbour').terms])
    expect([...counts].map((count) => Number(count.toFixed(3)))).toEqual([1, 1, 0.7])
    expect(total).toBe(2)
  })

  it('goes by the words of what is visible alone', async () => {
    const typed = 'takeover of falkenbrg'
    expect(await corrected(typed)).toBe('takeover of falkenberg')
    expect(await correct(typed, seen({ field: 'secret', in: [false] }))).toEqual([])
  })

  it('tells nothing of the words in conversations of others', async () => {
    const others = await openSpelling([...TEXTS, 'Private: the ferrry of Falkenberg.'])
    const mine = { ...everything(), conversations: 'none' } as const
    const typed = 'the ferrry and the harbour of falkenbrg'
    // As if nobody had the private text; again, when words have been remembered.
    for (const _ of [1, 2]) {
      expect(correctText(typed, await others.correct(typed, mine))).toBe(
        'the ferry and the harbour of falkenbrg',
      )
    }
    expect(await others.corrected(typed)).toBe('the ferrry and the harbour of falkenberg')
  })

  it('knows a word of a visible chunk behind many of conversations of others', async () => {
    const hidden = Array.from({ length: 9 }, () => 'Private: habrour.')
    const texts = [...TEXTS, ...hidden, `${TEXTS.join(' ')} It is called habrour.`]
    const { correct: correctFor } = await openSpelling(texts)
    const mine = { ...everything(), conversations: 'none' } as const
    expect(await correctFor('the habrour', mine)).toEqual([])
  })

  it('corrects the first six words that are unknown, those of the last question first', async () => {
    const typed = 'pasword databse ferrry habrour replicaton partitoin conversoin'
    const words = ['password', 'database', 'ferry', 'harbour', 'replication', 'partition']
    expect((await correct(typed)).map((each) => each.corrected)).toEqual(words)
    const right = 'what does the administrator of the zoo do '.repeat(20)
    expect(await corrected(`${right}pasword`)).toBe(`${right}password`)
  })

  it('takes only words that a chunk has, not others with their hash', async () => {
    // Every term is found in every chunk, as if all hashes were the same.
    const index = {
      frequencies: async (_: unknown, terms: Uint32Array) =>
        terms.map((_term, place) => (terms.length > 1 && place % 7 === 0 ? 1 : 0)),
      search: async () => ({
        candidates: [{ key: 4, score: 1 }],
        exhausted: true,
        degraded: false,
      }),
    } as unknown as Parameters<typeof createSpelling>[0]['index']
    const parts = { store, analyser, language: 'english', realWords: englishWords } as const
    const spelling = createSpelling({ index, ...parts })
    expect(await spelling.correct('the habrour', everything())).toEqual([])
  })

  it('is left as it is if the index cannot count words', async () => {
    const index = { search: () => Promise.reject(new Error('not asked')) }
    const parts = { store, analyser, language: 'english', realWords: englishWords } as const
    const unable = createSpelling({ index, ...parts })
    expect(await unable.correct('the pasword', everything())).toEqual([])
  })

  it('is corrected where no language is set, but not for certain', async () => {
    const none = await openSpelling(TEXTS, 'none')
    expect(await none.corrected('how do I chnage the pasword')).toBe('how do I chnage the password')
    expect(await none.corrected('nearest bus stop in Rome')).toBe('nearest bus stop in Rome')
    expect(none.spelling.isSure).toBe(false)
  })

  it('is corrected, but not for certain, where real words are not known', async () => {
    const texts = ['Die Kündigung des Vertrags steht im Archiv der Bank.']
    const german = await openSpelling(texts, 'german')
    expect(await german.corrected('Wo steht die Kündgung?')).toBe('Wo steht die kündigung?')
    expect(await german.corrected('Wo ist die Banks?')).toBe('Wo ist die Banks?')
    expect(german.spelling.isSure).toBe(false)
  })

  it('lets other work go on, whatever the language', async () => {
    const turkish = await openSpelling(['Bir cümle'], 'turkish')
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    await turkish.correct('muvaffakiyet kutuphaneler')
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })
})
