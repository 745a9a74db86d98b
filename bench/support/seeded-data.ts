import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Corpus } from './corpus.ts'
import { countChunks, ingest, untilEmbedded } from './ingest.ts'
import { startServer } from './server-process.ts'

/** A data directory that was filled over HTTP, with its server stopped. */
export interface Seed {
  /** Contains the server's `data` folder. */
  directory: string
  chunks: number
  documents: number
  /** Questions that the corpus can answer: words from its own passages. */
  queries: string[]
}

export interface SeededData {
  /** Created on first use, then shared; to write to it, copy it. `embedder` is the `EMBEDDING_MODEL` of its vectors. */
  of(chunks: number, embedder?: string): Promise<Seed>
  copy(seed: Seed, name: string): Promise<Seed>
}

const QUERIES = 1_000
const QUERY_WORDS = 8

interface Options {
  corpus: Corpus
  /** Where the filled directories are kept; an existing one is used as it is. */
  kept: string
  /** Where copies are put. */
  directory: string
  progress: (message: string) => void
}

export function createSeededData({ corpus, kept, directory, progress }: Options): SeededData {
  return {
    async of(chunks, embedder) {
      const target = join(kept, `chunks-${chunks}${embedder ? `-${embedder}` : ''}`)
      const description = join(target, 'seed.json')
      try {
        return JSON.parse(await readFile(description, 'utf8'))
      } catch {
        await mkdir(join(target, 'data'), { recursive: true })
      }
      const seed = await fill({ corpus, progress }, chunks, embedder, target)
      await writeFile(description, JSON.stringify(seed))
      return seed
    },
    async copy(seed, name) {
      const target = join(directory, name)
      await cp(seed.directory, target, { recursive: true })
      return { ...seed, directory: target }
    },
  }
}

async function fill(
  { corpus, progress }: Pick<Options, 'corpus' | 'progress'>,
  chunks: number,
  embedder: string | undefined,
  directory: string,
): Promise<Seed> {
  const environment = embedder ? { EMBEDDING_MODEL: embedder } : {}
  const server = await startServer({ directory, environment })
  const queries = new Map<number, string>()
  let documents = 0
  const noting = function* () {
    for (const document of corpus.take(chunks)) {
      documents += 1
      if (documents % 200 === 0) progress(`filling ${chunks} chunks: ${documents} documents`)
      queries.set(documents % QUERIES, questionOf(document.text, documents))
      yield document
    }
  }
  await ingest(server.url, noting())
  await untilEmbedded(server.url)
  const counted = await countChunks(server.url)
  await server.stop()
  return { directory, chunks: counted, documents, queries: [...queries.values()] }
}

/** Some consecutive words from the inside of a text. */
function questionOf(text: string, seed: number): string {
  const words = text.match(/\p{L}[\p{L}\p{N}'-]+/gu) ?? ['documentation']
  const from = (seed * 7_919) % Math.max(words.length - QUERY_WORDS, 1)
  return words.slice(from, from + 3 + (seed % (QUERY_WORDS - 2))).join(' ')
}
