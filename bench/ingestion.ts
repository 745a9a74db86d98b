import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChunkIndex } from '@agent-server/search'
import { createAnalyser, createEmbeddedIndex } from '@agent-server/search'
import { pino } from 'pino'
import { splitText } from '../src/documents/ingestion/split/split-text.ts'
import { type Bench, type Findings, verdict } from './support/bench.ts'
import type { Corpus, CorpusDocument } from './support/corpus.ts'
import { ingest } from './support/ingest.ts'
import { batches, type Found, interleave } from './support/interleave.ts'
import { startServer } from './support/server-process.ts'
import { round, show, spreadOf } from './support/statistics.ts'

const LANGUAGE = 'english'
const GOAL = 0.5

const KINDS = [
  { name: 'small', characters: 2_000, documents: 1_500 },
  { name: 'medium', characters: 20_000, documents: 250 },
  { name: 'large', characters: 500_000, documents: 12 },
]

type Kind = (typeof KINDS)[number]

/** Ingesting documents over HTTP until they can be found, compared with splitting, analysing and indexing alone. */
export async function ingestion(bench: Bench): Promise<Findings> {
  const rows: Findings['rows'] = []
  for (const kind of KINDS) rows.push(await measure(kind, bench))
  return {
    title: 'Ingestion until ready, over HTTP',
    rows,
    notes: [
      'Alone: split, analyse and add to the index, one document after the other, without HTTP and without the authority.',
    ],
  }
}

async function measure(kind: Kind, { corpus, directory, rounds, progress }: Bench) {
  const folder = join(directory, `ingestion-${kind.name}`)
  await mkdir(folder, { recursive: true })
  const server = await startServer({ directory: folder })
  const alone = await openAlone(join(folder, 'alone'))
  const documents = batches(cut(corpus, kind.characters), kind.documents, rounds + 1)
  const timed = (work: (documents: CorpusDocument[]) => Promise<void>) => async (run: number) => {
    const started = performance.now()
    await work(documents[run] ?? [])
    return (performance.now() - started) / 1_000
  }
  const found = await interleave(
    { alone: timed(alone.ingest), http: timed((some) => ingest(server.url, some)) },
    rounds,
    (message) => progress(`${kind.name} documents: ${message}`),
  )
  await Promise.all([server.stop(), alone.close()])
  return toRow(kind, found)
}

/** Pieces of equal length, cut from the concatenated texts of the documents. */
function* cut(corpus: Corpus, characters: number): Generator<CorpusDocument> {
  let text = ''
  for (const document of corpus.take(Number.POSITIVE_INFINITY)) {
    text += `${document.text}\n\n`
    for (; text.length >= characters; text = text.slice(characters)) {
      yield { title: document.title, text: text.slice(0, characters) }
    }
  }
}

async function openAlone(directory: string) {
  const analyser = createAnalyser(LANGUAGE)
  const index: ChunkIndex = createEmbeddedIndex({
    directory,
    fingerprint: analyser.fingerprint,
    source: { visibleKeys: async () => new Uint32Array() },
    onCrash: (error) => {
      throw error
    },
    log: pino({ level: 'warn' }),
  })
  let lastKey = 0
  return {
    async ingest(documents: readonly CorpusDocument[]) {
      for (const { title, text } of documents) {
        const chunks = splitText(text)
        const keys = Uint32Array.from(chunks, () => ++lastKey)
        await index.add(keys, analyser.batch(chunks.map((chunk) => ({ title, ...chunk }))), [])
      }
    },
    close: () => index.close(),
  }
}

function toRow({ name, characters, documents }: Kind, found: Found<'alone' | 'http', number>) {
  const rate = spreadOf(found('http').map((seconds) => documents / seconds))
  const ratio = spreadOf(found('alone').map((seconds, run) => seconds / (found('http')[run] ?? 0)))
  const megabytes = (seconds: readonly number[]) =>
    show(spreadOf(seconds.map((one) => (documents * characters) / 1e6 / one)))
  return {
    documents: `${name}, ${round(characters / 1_000)} kB`,
    'documents/s': show(rate, 1),
    'MB/s': megabytes(found('http')),
    'MB/s alone': megabytes(found('alone')),
    ratio: show(ratio),
    [`≥ ${GOAL}`]: verdict(ratio.median >= GOAL),
  }
}
