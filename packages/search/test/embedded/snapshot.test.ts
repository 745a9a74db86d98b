import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { createChanges } from '../../src/embedded/changes.ts'
import { createLexicalIndex } from '../../src/embedded/lexical.ts'
import { createLexicalPart, openSnapshot } from '../../src/embedded/snapshot.ts'
import { batchOf, queryOf, type Terms } from '../contracts/chunk-index.fixture.ts'

const MANIFEST = 'manifest.json'

/** The parts of the index's thread, in this one. */
async function open(directory: string, fingerprint = 'english-1', quietMs?: number) {
  const warnings: string[] = []
  const notify = ({ message }: { message: string }) => warnings.push(message)
  const snapshot = await openSnapshot({ directory, fingerprint, notify })
  const index = createLexicalIndex(snapshot.loaded)
  const changes = createChanges([createLexicalPart(index, snapshot)], notify, quietMs)
  const add = (chunks: Record<number, Terms>) => {
    const keys = Uint32Array.from(Object.keys(chunks), Number)
    return changes.apply(() => index.add(keys, batchOf(Object.values(chunks)), 0, keys.length))
  }
  const remove = (keys: readonly number[]) => changes.apply(() => index.remove(keys))
  return { index, add, remove, flush: changes.flush, warnings }
}

type Opened = Awaited<ReturnType<typeof open>>

/** Opens, lets `use` do its work, and writes the outcome. */
async function using<Result>(
  directory: string,
  use: (opened: Opened) => Result | Promise<Result>,
  fingerprint?: string,
): Promise<Result> {
  const opened = await open(directory, fingerprint)
  const result = await use(opened)
  await opened.flush()
  return result
}

/** Two segments on the disk: keys 1 to 100, of which 50 is removed, and 1001 to 1100. */
async function seeded(): Promise<string> {
  const directory = await temporaryDirectory()
  await using(directory, async ({ add, remove, flush }) => {
    await add(chunksFrom(1))
    await flush()
    await add(chunksFrom(1_001))
    await remove([50])
  })
  return directory
}

function chunksFrom(first: number): Record<number, Terms> {
  const keys = Array.from({ length: 100 }, (_, i) => first + i)
  return Object.fromEntries(keys.map((key) => [key, ['all', `only ${key}`]]))
}

async function segmentFiles(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((file) => file.endsWith('.segment')).toSorted()
}

const contentOf = ({ index, warnings }: Opened) => ({
  hits: [...index.search(queryOf(['all', 'only 7', 'only 1050']), 300).keys],
  keys: [...index.keys()],
  warnings,
})

describe('The snapshot of the embedded index', () => {
  it('is written after a pause in changes, so that a crash loses nothing', async () => {
    const directory = await temporaryDirectory()
    const { add } = await open(directory, undefined, 20)
    const written = async () => {
      const text = await readFile(join(directory, MANIFEST), 'utf8').catch(() => '')
      return text.match(/\d\.segment/g)?.length
    }
    await add(chunksFrom(1))
    await expect.poll(written).toBe(1)
    await add(chunksFrom(1_001))
    await expect.poll(written).toBe(2)
    expect((await open(directory)).index.keys().length).toBe(200)
  })

  it('restores the index as it was closed, removals included, and writes no file twice', async () => {
    const directory = await temporaryDirectory()
    const before = await using(directory, async (opened) => {
      await opened.add(chunksFrom(1))
      await opened.flush()
      expect(await segmentFiles(directory)).toEqual(['1.segment'])
      await opened.add(chunksFrom(91))
      await opened.remove([50, 70])
      return contentOf(opened)
    })
    expect(await segmentFiles(directory)).toEqual(['1.segment', '2.segment'])
    expect(before.keys).toHaveLength(188)
    expect(await using(directory, contentOf)).toEqual(before)
    expect(await using(directory, contentOf)).toEqual(before)
  })

  it('is written when much has been added, and then holds no file twice', async () => {
    const directory = await temporaryDirectory()
    await using(directory, async ({ add }) => {
      for (let first = 0; first < 20_000; first += 100) await add(chunksFrom(first))
      await expect.poll(() => segmentFiles(directory), { timeout: 15_000 }).not.toEqual([])
    })
    const { segments, keys } = await using(directory, ({ index }) => ({
      segments: index.segments.length,
      keys: index.keys(),
    }))
    expect(keys).toHaveLength(20_000)
    expect(await segmentFiles(directory)).toHaveLength(segments)
  })

  it.each([
    ['is cut short', (path: string) => truncate(path, 300)],
    ['is empty', (path: string) => truncate(path, 0)],
    ['is missing', (path: string) => rm(path)],
    ['has one wrong bit in its middle', (path: string) => flip(path, 600)],
    ['has one wrong bit in its sizes', (path: string) => flip(path, 8)],
    ['has one wrong bit in its checksum', (path: string) => flip(path, 4)],
    ['has one wrong bit in its first word', (path: string) => flip(path, 0)],
    ['is something else', (path: string) => writeFile(path, 'x'.repeat(5_000))],
  ])(
    'does without a segment whose file %s, says so, and serves the others',
    async (_case, damage) => {
      const directory = await seeded()
      const [, second] = await segmentFiles(directory)
      await damage(join(directory, second ?? ''))
      const { keys, hits, warnings } = await using(directory, contentOf)
      expect(warnings).toEqual(['part of the search index was lost and will be indexed again'])
      expect(keys).toEqual(Array.from({ length: 100 }, (_, i) => i + 1).filter((key) => key !== 50))
      expect(hits[0]).toBe(7)
      expect(hits).toHaveLength(99)

      await using(directory, ({ add }) => add(chunksFrom(1_001)))
      const healed = await using(directory, contentOf)
      expect(healed.keys).toHaveLength(199)
      expect(healed.warnings).toEqual([])
    },
  )

  it.each([
    ['is no JSON', (path: string) => writeFile(path, '{"format":1,')],
    ['is JSON of something else', (path: string) => writeFile(path, 'null')],
    ['has one wrong character', replaceDigit],
    ['has another format', (path: string) => edit(path, /"format":3/, '"format":2')],
  ])('starts afresh where the manifest %s, and says so', async (_case, damage) => {
    const directory = await seeded()
    await damage(join(directory, MANIFEST))
    const { keys, hits, warnings } = await using(directory, contentOf)
    expect(warnings).toEqual(['the search index has no readable manifest: rebuilding it'])
    expect({ keys, hits }).toEqual({ keys: [], hits: [] })
    expect(await readdir(directory)).toEqual([])
  })

  it('is empty without a manifest, or with one of another analyser', async () => {
    const directory = await seeded()
    await rm(join(directory, MANIFEST))
    expect((await using(directory, contentOf)).keys).toEqual([])
    expect(await readdir(directory)).toEqual([])

    await using(directory, ({ add }) => add(chunksFrom(1)))
    const { keys, warnings } = await using(directory, contentOf, 'french-1')
    expect(keys).toEqual([])
    expect(warnings).toEqual([
      'the search index was created with other settings or from another database: rebuilding it',
    ])
  })

  it('removes what an interrupted write has left, and no file of others', async () => {
    const directory = await seeded()
    const before = await readdir(directory)
    await writeFile(join(directory, '999.segment'), 'half a segm')
    await writeFile(join(directory, `${MANIFEST}.new`), '{"for')
    await writeFile(join(directory, 'notes.txt'), 'mine')
    await mkdir(join(directory, 'vectors'))
    const { keys, warnings } = await using(directory, contentOf)
    expect(keys).toHaveLength(199)
    expect(warnings).toEqual([])
    expect(await readdir(directory)).toEqual([...before, 'notes.txt', 'vectors'].toSorted())
  })

  it('is written once the disk works again, and searches work meanwhile', async () => {
    const directory = await temporaryDirectory()
    const opened = await open(directory)
    await opened.add(chunksFrom(1))
    await rm(directory, { recursive: true })
    await expect(opened.flush()).rejects.toThrow('ENOENT')
    expect(contentOf(opened).keys).toHaveLength(100)
    await mkdir(directory)
    await opened.flush()
    expect((await using(directory, contentOf)).keys).toHaveLength(100)
  })
})

async function flip(path: string, position: number): Promise<void> {
  const bytes = await readFile(path)
  bytes[position] = (bytes[position] ?? 0) ^ 1
  await writeFile(path, bytes)
}

function replaceDigit(path: string): Promise<void> {
  return edit(path, /"generation":\d/, '"generation":7')
}

async function edit(path: string, part: RegExp, replacement: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  expect(text).toMatch(part)
  await writeFile(path, text.replace(part, replacement))
}
