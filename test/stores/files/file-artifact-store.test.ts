import { readdir, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFileArtifactStore } from '../../../src/stores/files/artifacts.ts'
import {
  describeArtifactStore,
  describeKeptArtifacts,
} from '../../contracts/artifact-store.contract.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const open = async () => createFileArtifactStore({ directory: await temporaryDirectory() })
const fileOf = (size: number) => ({
  name: 'x.txt',
  mediaType: 'text/plain',
  bytes: new Uint8Array(size).fill(7),
})

describeArtifactStore('A directory', { create: open })

describeKeptArtifacts('A directory', {
  create: async (bounds) =>
    createFileArtifactStore({ directory: await temporaryDirectory(), ...bounds }),
})

describe('The name of an artifact', () => {
  it.each([
    ['../../etc/passwd', '_.._etc_passwd'],
    ['C:\\windows\\system.ini', 'C__windows_system.ini'],
    ['.htaccess', 'htaccess'],
    ['a\u0000b\r\nc.txt', 'a_b__c.txt'],
    ['gpj.\u202eexe', 'gpj._exe'],
    ['', 'file'],
    [' .. ', 'file'],
    ['\ud800.txt', '_.txt'],
    ['Übersicht 2026 日本.csv', 'Übersicht 2026 日本.csv'],
    [`${'x'.repeat(300)}.png`, `${'x'.repeat(116)}.png`],
  ])('%j is kept as %j', async (name, kept) => {
    expect((await (await open()).add({ ...fileOf(1), name })).name).toBe(kept)
  })

  it.each(['text/html\r\nx: y', 'html', '', 'a/b; charset=x'])(
    'has the type of unknown bytes where its own is %j',
    async (mediaType) => {
      const artifact = await (await open()).add({ ...fileOf(1), mediaType })
      expect(artifact.mediaType).toBe('application/octet-stream')
    },
  )
})

describe('The room of the artifacts', () => {
  it('is bounded in bytes: the oldest go, and what is removed leaves nothing on the disk', async () => {
    const directory = await temporaryDirectory()
    const store = await createFileArtifactStore({ directory, maximumTotalBytes: 25 })
    const [first, second] = [await store.add(fileOf(10)), await store.add(fileOf(10))]
    const third = await store.add(fileOf(10))
    expect(await store.read(first.id)).toBeUndefined()
    expect((await store.read(second.id))?.bytes).toHaveLength(10)
    expect((await readdir(directory)).toSorted()).toEqual([second.id, third.id].toSorted())
    expect(await store.remove(second.id)).toBe(true)
    expect(await readdir(directory)).toEqual([third.id])
  })

  it('is bounded in number', async () => {
    const directory = await temporaryDirectory()
    const store = await createFileArtifactStore({ directory, maximumCount: 2 })
    for (let made = 0; made < 5; made += 1) await store.add(fileOf(1))
    expect(await readdir(directory)).toHaveLength(2)
  })

  it('takes no file that is too large', async () => {
    const directory = await temporaryDirectory()
    const store = await createFileArtifactStore({ directory, maximumBytes: 3 })
    await expect(store.add(fileOf(4))).rejects.toThrow(RangeError)
    expect(await readdir(directory)).toEqual([])
  })

  it('is freed of what is past its age', async () => {
    const directory = await temporaryDirectory()
    const aged = await createFileArtifactStore({ directory, maximumAgeMs: 0 })
    const { id } = await aged.add(fileOf(1))
    expect(await aged.read(id)).toBeUndefined()
    await aged.add(fileOf(1))
    expect(await readdir(directory)).not.toContain(id)
  })
})

describe('After a restart', () => {
  it('the artifacts are there, as old as they are', async () => {
    const directory = await temporaryDirectory()
    const before = await createFileArtifactStore({ directory })
    const { id } = await before.add(fileOf(3))
    await utimes(join(directory, id), 1_000, 1_000)
    const hour = 3_600_000
    const later = await createFileArtifactStore({ directory, maximumAgeMs: hour })
    expect(await later.read(id)).toBeUndefined()
    const patient = await createFileArtifactStore({ directory, maximumAgeMs: 1e15 })
    expect((await patient.read(id))?.bytes).toHaveLength(3)
  })

  it('what was not written whole is gone', async () => {
    const directory = await temporaryDirectory()
    const before = await createFileArtifactStore({ directory })
    const { id } = await before.add(fileOf(30))
    await truncate(join(directory, id), 60)
    await writeFile(join(directory, 'art_x.part'), 'half')
    const after = await createFileArtifactStore({ directory })
    expect(await after.read(id)).toBeUndefined()
    expect(await readdir(directory)).toEqual([id])
  })
})
