import type { CorpusRecord } from '@agent-server/stores'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSqliteCorpus } from '../../../packages/stores/src/sqlite/corpus.ts'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import { moveCorpus } from '../../../src/documents/transfer/move-corpus.ts'

const { signal } = new AbortController()
const unwatched = (records: AsyncIterable<CorpusRecord>) => records

async function createPlace(documents: readonly string[] = []) {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  if (documents.length > 0) {
    const store = await data.open()
    for (const id of documents) await store.add({ id, text: `About ${id}.` })
    await store.close()
  }
  return createSqliteCorpus({ directory: data.directory, derived: [] })
}

const recordsOf = (corpus: Awaited<ReturnType<typeof createPlace>>) =>
  Array.fromAsync(corpus.readCorpus(signal))

/** Stores what another server has accepted. */
async function createAccepting(digest: string, connections: readonly string[], sources: string[]) {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  const { acceptedTools, skillCopies, ...store } = await data.open()
  for (const name of connections) {
    await acceptedTools.see(name, 'https://example.org/mcp', new Map([[digest, digest]]))
  }
  for (const source of sources) {
    await skillCopies.keep(source, { digest, bytes: Buffer.from(digest) }, undefined)
  }
  await store.close()
  return data
}

describe('What was accepted', () => {
  const corpusOf = ({ directory }: { directory: string }) =>
    createSqliteCorpus({ directory, derived: [] })

  it('comes along, and what was accepted there stays', async () => {
    const from = await createAccepting('old', ['one', 'two'], ['a', 'b'])
    const to = await createAccepting('new', ['one'], ['b'])
    await moveCorpus(corpusOf(from), corpusOf(to), unwatched, signal)
    await moveCorpus(corpusOf(from), corpusOf(to), unwatched, signal)
    const store = await to.open()
    onTestFinished(store.close)
    const digestsOf = async (connection: string) => [
      ...(await store.acceptedTools.see(connection, 'https://example.org/mcp', new Map())).values(),
    ]
    expect(await digestsOf('one')).toEqual(['new'])
    expect(await digestsOf('two')).toEqual(['old'])
    const copies = [await store.skillCopies.read('a'), await store.skillCopies.read('b')]
    expect(copies.map((copy) => Buffer.from(copy?.bytes ?? []).toString())).toEqual(['old', 'new'])
    expect(copies.map((copy) => copy?.digest)).toEqual(['old', 'new'])
  })

  it('is nothing where nothing was', async () => {
    const [from, to] = [await createAccepting('', [], []), await createAccepting('', [], [])]
    await moveCorpus(corpusOf(from), corpusOf(to), unwatched, signal)
    const nothing = { connections: [], tools: [], copies: [] }
    expect(await corpusOf(to).readAccepted()).toEqual(nothing)
  })
})

describe('The move of a corpus', () => {
  it('takes all of it into a place that holds nothing, and shows each record on its way', async () => {
    const [source, target] = [await createPlace(['a', 'b']), await createPlace()]
    const seen: string[] = []
    const watch = async function* (records: AsyncIterable<CorpusRecord>) {
      for await (const record of records) {
        seen.push(record.kind)
        yield record
      }
    }
    expect(await moveCorpus(source, target, watch, signal)).toBe(true)
    expect(await recordsOf(target)).toEqual(await recordsOf(source))
    expect(seen).toEqual(['start', 'document', 'document'])
  })

  it('copies nothing when it is run again', async () => {
    const [source, target] = [await createPlace(['a']), await createPlace()]
    await moveCorpus(source, target, unwatched, signal)
    expect(await moveCorpus(source, target, unwatched, signal)).toBe(false)
  })

  it('begins anew after an interruption, of which nothing is left', async () => {
    const [source, target] = [await createPlace(['a', 'b']), await createPlace()]
    const interrupted = new AbortController()
    const watch = async function* (records: AsyncIterable<CorpusRecord>) {
      for await (const record of records) {
        yield record
        if (record.kind === 'document') interrupted.abort(new Error('interrupted'))
      }
    }
    await expect(moveCorpus(source, target, watch, interrupted.signal)).rejects.toThrow(
      'interrupted',
    )
    expect(await moveCorpus(source, target, unwatched, signal)).toBe(true)
    expect(await recordsOf(target)).toEqual(await recordsOf(source))
  })

  it('leaves a place alone that holds other documents', async () => {
    const [source, target] = [await createPlace(['a']), await createPlace(['x', 'y'])]
    await expect(moveCorpus(source, target, unwatched, signal)).rejects.toThrow(/documents/)
    expect(await recordsOf(target)).toHaveLength(3)
  })
})
