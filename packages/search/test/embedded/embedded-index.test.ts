import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import type { ChunkIndex, IndexSource } from '../../src/chunk-index.ts'
import { createEmbeddedIndex } from '../../src/embedded/embedded-index.ts'
import { describeChunkIndex } from '../contracts/chunk-index.contract.ts'
import { addTo, createSource, keysFor, queryOf, seen } from '../contracts/chunk-index.fixture.ts'

function open(directory: string, source: IndexSource = createSource()): ChunkIndex {
  return createEmbeddedIndex({
    directory,
    fingerprint: 'test',
    source,
    onCrash: (error) => {
      throw error
    },
  })
}

describeChunkIndex('The embedded index', async (source) => {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-index-'))
  return {
    index: open(directory, source),
    counts: true,
    remove: () => rm(directory, { recursive: true, force: true }),
  }
})

describe('The thread of the embedded index', () => {
  it('rejects calls, and reports no crash, if its directory cannot be created', async () => {
    const file = join(await temporaryDirectory(), 'file')
    await writeFile(file, '')
    const crashes: Error[] = []
    const index = createEmbeddedIndex({
      directory: join(file, 'index'),
      fingerprint: 'test',
      source: createSource(),
      onCrash: (error) => crashes.push(error),
    })
    await expect(index.keys()).rejects.toThrow('ENOTDIR')
    expect(crashes).toEqual([])
  })

  it('rejects pending and later calls when it crashes, and reports the crash once', async () => {
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

  it('writes its content when it is closed', async () => {
    const directory = await temporaryDirectory()
    const index = open(directory)
    await addTo(index, { 1: ['wing'] })
    await index.close()
    const again = open(directory)
    expect(await keysFor(again, ['wing'])).toEqual([1])
    await again.close()
  })
})

it.each([
  ['lexical', []],
  ['hybrid', [[4, 0]]],
] as const)(
  'A %s search tells what share of the question a chunk contains',
  async (mode, nearOnly) => {
    const index = open(await temporaryDirectory())
    await addTo(index, { 1: ['wing', 'sail'], 2: ['wing'], 3: ['sail'], 4: ['keel'] })
    // Replaced, so that its first terms count no more.
    await addTo(index, { 3: ['wing', 'keel'] })
    await index.addVectors({
      keys: Uint32Array.of(1, 2, 3, 4),
      dimension: 2,
      values: Float32Array.of(1, 0, 1, 0, 1, 0, 0, 1),
    })
    const vector = Promise.resolve(Float32Array.of(0, 1))
    const query = { mode, vector, terms: queryOf({ wing: 3, sail: 1 }), limit: 10 }
    const { candidates } = await index.search(seen(), query)
    const shares = candidates.map(({ key, terms }) => [key, terms]).toSorted()
    expect(shares).toEqual([[1, 1], [2, 0.75], [3, 0.75], ...nearOnly])
    await index.close()
  },
)
