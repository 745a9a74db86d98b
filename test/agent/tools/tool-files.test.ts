import { everything, type Visibility } from '@agent-server/lib/visibility.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import type { StoredDocument } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { createCitations } from '../../../src/agent/citations/citations.ts'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import { createToolFiles } from '../../../src/agent/tools/tool-files.ts'
import { hitOf } from '../../support/hit.ts'
import { createMemoryArtifactStore } from './memory-artifact-store.ts'

const FILES: Record<string, string> = {
  doc_a: 'sales.csv',
  doc_b: 'sales.csv',
  doc_odd: '../\nü.xlsx',
  doc_hidden: '.profile',
  doc_failed: 'bomb.xlsx',
}

/** Documents that are what their identifiers say: `doc_text` has no file. */
async function create() {
  const artifacts = createMemoryArtifactStore()
  const documents = {
    get: async ({ collections }: Visibility, id: string) => {
      const isVisible = id === 'doc_a' || collections === 'all'
      const isThere = id in FILES || id === 'doc_text'
      return isThere && isVisible ? documentOf(id, FILES[id]) : undefined
    },
    readFile: async (_visibility: Visibility, id: string) => pieces([`${id} `, 'content']),
  }
  const read = createToolFiles({ documents, artifacts })
  const citations = createCitations()
  citations.add([hitOf('a'), hitOf('text')])
  const readNames = (names: string[], { most = 1_000, filtered = false } = {}) =>
    read(names, { citations, visibility: filtered ? PUBLIC : everything() }, most)
  return { readNames, artifacts }
}

const PUBLIC = forCaller({ collections: ['public'] })

async function* pieces(texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text)
}

function documentOf(id: string, name: string | undefined): StoredDocument {
  return {
    id,
    title: undefined,
    url: undefined,
    collection: undefined,
    conversation: undefined,
    metadata: undefined,
    status: 'ready',
    file: name === undefined ? undefined : { name, mediaType: 'text/csv', size: 1 },
    error: undefined,
    attempts: 1,
    revision: 1,
    servedRevision: 1,
    ...(id === 'doc_failed' && { status: 'failed', servedRevision: undefined }),
    chunkCount: 1,
    characters: 1,
    createdAt: 0,
    updatedAt: 0,
  }
}

const textsOf = (files: readonly { name: string; bytes: Uint8Array }[]) =>
  files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])

describe('The files that a tool is given', () => {
  it('are those of documents, by id or by the number of a passage', async () => {
    const { readNames } = await create()
    expect(textsOf(await readNames(['doc_a']))).toEqual([['sales.csv', 'doc_a content']])
    expect(textsOf(await readNames(['1']))).toEqual([['sales.csv', 'doc_a content']])
    expect(textsOf(await readNames(['[1]']))).toEqual([['sales.csv', 'doc_a content']])
  })

  it('are artifacts by their id', async () => {
    const { readNames, artifacts } = await create()
    const file = { name: 'plot.png', mediaType: 'image/png', bytes: Buffer.from('png') }
    const { id } = await artifacts.add(file)
    expect(textsOf(await readNames([id]))).toEqual([['plot.png', 'png']])
  })

  it('have unique names without paths', async () => {
    const { readNames } = await create()
    const files = await readNames(['doc_a', 'doc_b', 'doc_odd', 'doc_hidden', 'doc_a'])
    expect(files.map(({ name }) => name)).toEqual([
      'sales.csv',
      '2-sales.csv',
      '__ü.xlsx',
      'profile',
    ])
  })

  it.each([
    ['an unknown document', 'doc_x', 'there is no document "doc_x"'],
    ['a document without a file', 'doc_text', 'the document "doc_text" was sent as text'],
    ['a document that failed', 'doc_failed', 'it is failed, not ready'],
    ['a passage that is not there', '7', 'there is no passage 7'],
    ['an unknown artifact', 'art_x', 'there is no artifact "art_x"'],
  ])('are refused for %s', async (_case, name, message) => {
    const { readNames } = await create()
    await expect(readNames([name])).rejects.toThrow(message)
  })

  it('are bounded in total', async () => {
    const { readNames } = await create()
    await expect(readNames(['doc_a', 'doc_b'], { most: 20 })).rejects.toThrow(ToolInputError)
    expect(await readNames(['doc_a', 'doc_b'], { most: 26 })).toHaveLength(2)
  })

  it('are only of documents visible to the run', async () => {
    const { readNames } = await create()
    expect(await readNames(['doc_a'], { filtered: true })).toHaveLength(1)
    await expect(readNames(['doc_b'], { filtered: true })).rejects.toThrow('there is no document')
  })
})
