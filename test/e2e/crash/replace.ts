import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { expect } from 'vitest'
import { splitText } from '../../../src/documents/ingestion/split/split-text.ts'
import { sendFile } from '../../support/forms.ts'
import { search } from '../../support/knowledge.ts'
import { settledDocument, type TestServer } from '../../support/server.ts'
import { writeSentences } from './expected-documents.ts'
import type { SeededRandom } from './seeded-random.ts'

const MAX_HITS = 100
/** With those of the content before, they must fit one answer. */
const MAX_SENTENCES = 300

/** A document that is replaced again and again, as its client knows it. */
export interface Replaced {
  id: string
  /** What was sent, in order; the number of a content is its place here. */
  contents: { text: string; chunks: number; isFile: boolean }[]
  /** The newest content that is known to be stored. */
  acknowledged: number
  /** The oldest content that may still be found. */
  served: number
}

export function createReplaced(number: number): Replaced {
  const letters = String.fromCharCode(97 + (number % 26), 97 + Math.floor(number / 26))
  return { id: `zq${letters}q`, contents: [], acknowledged: -1, served: -1 }
}

/** Puts new contents one after another until the server is gone; every other waits until it is found. */
export async function replaceUntilGone(
  server: TestServer,
  document: Replaced,
  random: SeededRandom,
): Promise<void> {
  for (;;) {
    const number = begin(document, random)
    const wait = random.chance(0.5) ? '?wait=20' : ''
    const answer = await answerOf(server, document, wait)
    if (answer === undefined) return
    document.acknowledged = number
    // From here on no query may find an earlier one.
    if (answer.status === 'ready') document.served = Math.max(document.served, number)
  }
}

/** Asks for the document again and again until the server is gone: it is always found, whole and as of one content. */
export async function askUntilGone(server: TestServer, document: Replaced): Promise<number> {
  let asked = 0
  for (;;) {
    try {
      await expectOneContent(server, document)
    } catch (error) {
      if (error instanceof TypeError || error instanceof SyntaxError) return asked
      throw error
    }
    asked++
  }
}

/** What is found is one whole content, none that was replaced when the question was asked. */
export async function expectOneContent(server: TestServer, document: Replaced): Promise<number> {
  const { id, contents } = document
  const oldest = document.served
  const hits = await hitsOf(server, id)
  const numbers = new Set(hits.map(({ text }) => Number(/number(\d+)n/.exec(text)?.[1])))
  expect([...numbers], `${id} is found as one content`).toHaveLength(oldest < 0 ? numbers.size : 1)
  const [found = -1] = numbers
  expect(found, `${id} is found as it was put last`).toBeGreaterThanOrEqual(oldest)
  if (found >= 0) expect(hits).toHaveLength(contents[found]?.chunks ?? 0)
  document.served = Math.max(document.served, found)
  return found
}

/** After a kill: the newest acknowledged content, or one after it, becomes ready and alone is found. */
export async function expectReplaced(server: TestServer, document: Replaced): Promise<void> {
  if (document.acknowledged < 0) return
  const first = await server.request(`/documents/${document.id}`)
  const { servedRevision } = Document.parse(await first.json())
  if (servedRevision !== undefined) await expectOneContent(server, document)
  const settled = await settledDocument(server.request, document.id)
  expect(settled).toMatchObject({ status: 'ready', servedRevision: settled.revision })
  const found = await expectOneContent(server, document)
  expect(found).toBeGreaterThanOrEqual(document.acknowledged)
  document.acknowledged = found
  document.served = found
}

/** Of this document alone: with an embedder others are found as well. */
async function hitsOf(server: TestServer, id: string): Promise<Hit[]> {
  const hits = await search(server, id, MAX_HITS)
  return hits.filter(({ documentId }) => documentId === id)
}

function put(server: TestServer, path: string, content?: Replaced['contents'][number]) {
  const { text = '', isFile } = content ?? {}
  if (!isFile) return server.request(path, { method: 'PUT', body: { text } })
  return sendFile(server, { name: 'content.txt', bytes: text }, { method: 'PUT', path })
}

function begin({ id, contents }: Replaced, random: SeededRandom): number {
  const number = contents.length
  const beginning = `In ${id} of number${number}n`
  const text = writeSentences(beginning, random.between(1, MAX_SENTENCES), random)
  contents.push({ text, chunks: splitText(text).length, isFile: random.chance(0.5) })
  return number
}

/** Nothing where the server is gone or goes: the content may be stored or not. */
async function answerOf(server: TestServer, { id, contents }: Replaced, wait: string) {
  try {
    const path = `/documents/${id}${wait}`
    const response = await put(server, path, contents.at(-1))
    return response.ok ? DocumentCreated.parse(await response.json()) : undefined
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) return undefined
    throw error
  }
}
