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
import { addTo, createSource, keysFor } from '../contracts/chunk-index.fixture.ts'

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
