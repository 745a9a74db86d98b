import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ChunkIndex } from '../../../src/indexes/chunk-index.ts'
import { createEmbeddedIndex } from '../../../src/indexes/embedded/embedded-index.ts'
import { createFeedback } from '../../../src/services/retrieval/feedback.ts'
import { describeChunkIndex } from '../../contracts/chunk-index.contract.ts'
import { addTo, batchOf, keysFor, queryOf } from '../../contracts/chunk-index.fixture.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

function open(directory: string): ChunkIndex {
  return createEmbeddedIndex({
    directory,
    fingerprint: 'test',
    onCrash: (error) => {
      throw error
    },
  })
}

describeChunkIndex('The embedded index', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-index-'))
  return {
    index: open(directory),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
})

describe('The thread of the embedded index', () => {
  it('rejects what is asked of it, and reports no crash, where its directory cannot be made', async () => {
    const file = join(await temporaryDirectory(), 'file')
    await writeFile(file, '')
    const crashes: Error[] = []
    const index = createEmbeddedIndex({
      directory: join(file, 'index'),
      fingerprint: 'test',
      onCrash: (error) => crashes.push(error),
    })
    await expect(index.keys()).rejects.toThrow('ENOTDIR')
    expect(crashes).toEqual([])
  })

  it('rejects the calls under way and those to come when it crashes, and says so once', async () => {
    const child = fork(new URL('./crashing-process.ts', import.meta.url), {
      execArgv: ['--import', new URL('./crash-on-demand.ts', import.meta.url).href],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.send(await temporaryDirectory())
    const [report] = await once(child, 'message')
    expect(report).toEqual({
      underWay: 'rejected: crash on demand',
      afterwards: 'rejected: crash on demand',
      closing: 'fulfilled',
      crashes: ['crash on demand'],
    })
  })

  it('writes what it holds when it is closed', async () => {
    const directory = await temporaryDirectory()
    const index = open(directory)
    await addTo(index, { 1: ['wing'] })
    await index.close()
    const again = open(directory)
    expect(await keysFor(again, ['wing'])).toEqual([1])
    await again.close()
  })
})

describe('Feedback within the thread', () => {
  /** Chunks that all say `wing`, the later ones less; every other one says `flutter` as well. */
  const CHUNKS = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      i + 1,
      { wing: 1, [i % 2 ? 'flutter' : 'mach']: 2, filler: i },
    ]),
  )
  const query = { terms: queryOf(['wing']), limit: 20 }

  async function openFilled() {
    const index = open(await temporaryDirectory())
    onTestFinished(() => index.close())
    await addTo(index, CHUNKS)
    return index
  }

  it('ranks as two searches do that are told the terms', async () => {
    const index = await openFilled()
    const twice = createFeedback({
      index: { search: index.search },
      termsOf: async (keys) => ({ keys, terms: batchOf(keys.map((key) => CHUNKS[key] ?? [])) }),
    })
    const expected = await twice.search(query)
    expect(expected).not.toEqual(await index.search(query))
    expect(await index.searchLearning?.(query)).toEqual(expected)
  })

  it('answers what little there is as it is, and throws the reason of a signal', async () => {
    const index = await openFilled()
    const few = { ...query, only: Uint32Array.of(3, 5), limit: 1 }
    expect(await index.searchLearning?.(few)).toMatchObject([{ key: 3 }])
    const none = { ...query, terms: queryOf(['nothing']) }
    expect(await index.searchLearning?.(none)).toEqual([])
    const gone = AbortSignal.abort(new Error('gone'))
    await expect(index.searchLearning?.(query, gone)).rejects.toThrow('gone')
  })
})
