import { OpenDirectory, wasi } from '@bjorn3/browser_wasi_shim'
import { describe, expect, it } from 'vitest'
import {
  createQuota,
  filesBelow,
  MemoryDirectory,
  MemoryFile,
  measureUsage,
  type Quota,
} from '../../src/embedded/file-system.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (file: MemoryFile | undefined) => Buffer.from(file?.data ?? []).toString()

/** A root with its own quota. */
function createRoot(most = { bytes: 1_000, nodes: 10 }): MemoryDirectory {
  const quota: Quota = createQuota(most, () => measureUsage(root, []))
  const root = new MemoryDirectory(quota)
  return root
}

/** Opens a file the way a program does; its descriptor. */
function openFile(file: MemoryFile | undefined, flags = 0) {
  if (!file) throw new Error('There is no file')
  return file.path_open(0, 0n, flags).fd_obj
}

describe('A directory in memory', () => {
  it('keeps files and directories by path', () => {
    const root = createRoot()
    expect(root.place('a/b/c.txt', bytesOf('deep'))).toBeInstanceOf(MemoryFile)
    expect(root.place('d.txt', bytesOf('flat'))).toBeInstanceOf(MemoryFile)
    const files = [...filesBelow(root)].map(({ name, file }) => [name, textOf(file)])
    expect(files).toEqual([
      ['d.txt', 'flat'],
      ['a/b/c.txt', 'deep'],
    ])
  })

  it('replaces a file that is placed again', () => {
    const root = createRoot()
    root.place('a', bytesOf('a longer text'))
    expect(textOf(root.place('a', bytesOf('short')))).toBe('short')
  })

  it('places no file where a directory is, nor below a file', () => {
    const root = createRoot()
    root.place('a/b', bytesOf('x'))
    expect(root.place('a', bytesOf('y'))).toBeUndefined()
    expect(root.place('a/b/c', bytesOf('y'))).toBeUndefined()
  })

  it('makes entries by path, but none outside of it', () => {
    const root = createRoot()
    expect(root.create_entry_for_path('a', true).ret).toBe(wasi.ERRNO_SUCCESS)
    expect(root.create_entry_for_path('a/../a/./b', false).ret).toBe(wasi.ERRNO_SUCCESS)
    expect(root.create_entry_for_path('../b', false).ret).toBe(wasi.ERRNO_NOTCAPABLE)
    expect(root.create_entry_for_path('a/../../b', false).ret).toBe(wasi.ERRNO_NOTCAPABLE)
    expect(root.create_entry_for_path('missing/b', false).ret).toBe(wasi.ERRNO_NOENT)
    expect(root.create_entry_for_path('x'.repeat(256), false).ret).toBe(wasi.ERRNO_NAMETOOLONG)
    expect([...filesBelow(root)].map(({ name }) => name)).toEqual(['a/b'])
  })

  it('has no room for more entries than its quota allows, until some are deleted', () => {
    const root = createRoot({ bytes: 1_000, nodes: 4 })
    const made = ['a', 'b', 'c', 'd', 'e'].map((name) => root.create_entry_for_path(name, true).ret)
    expect(made).toEqual([0, 0, 0, 0, wasi.ERRNO_NOSPC])
    root.contents.delete('a')
    expect(root.create_entry_for_path('e', true).ret).toBe(wasi.ERRNO_SUCCESS)
  })
})

describe('A file in memory', () => {
  it('is written and read at a position that each descriptor has for itself', () => {
    const root = createRoot()
    const [one, other] = [
      openFile(root.place('a', bytesOf(''))),
      openFile(root.place('a', bytesOf(''))),
    ]
    expect(one.fd_write(bytesOf('hello'))).toMatchObject({ nwritten: 5 })
    expect(Buffer.from(other.fd_read(3).data).toString()).toBe('hel')
    expect(one.fd_tell()).toMatchObject({ offset: 5n })
    expect(one.fd_seek(-3n, wasi.WHENCE_END)).toMatchObject({ offset: 2n })
    expect(Buffer.from(one.fd_read(100).data).toString()).toBe('llo')
  })

  it('is appended to at its current end', () => {
    const file = createRoot().place('a', bytesOf('one'))
    const appending = openFile(file, wasi.FDFLAGS_APPEND)
    openFile(file).fd_pwrite(bytesOf('two'), 3n)
    appending.fd_write(bytesOf('three'))
    expect(textOf(file)).toBe('onetwothree')
  })

  it('reads zeros where nothing was written, never what was cut off', () => {
    const file = createRoot().place('a', bytesOf('secret'))
    const open = openFile(file)
    expect(open.fd_filestat_set_size(2n)).toBe(wasi.ERRNO_SUCCESS)
    open.fd_pwrite(bytesOf('!'), 6n)
    expect(textOf(file)).toBe('se\0\0\0\0!')
  })

  it.each([
    ['written', (open: ReturnType<typeof openFile>) => open.fd_write(new Uint8Array(1_001)).ret],
    ['stretched', (open) => open.fd_filestat_set_size(2n ** 31n)],
    ['stretched beyond all numbers', (open) => open.fd_filestat_set_size(2n ** 63n)],
    ['reserved', (open) => open.fd_allocate(0n, 2n ** 40n)],
    ['written far out', (open) => open.fd_pwrite(bytesOf('x'), 2n ** 52n).ret],
  ] satisfies [string, (open: ReturnType<typeof openFile>) => number][])(
    'has no more room than its quota, however it is %s',
    (_case, grow) => {
      const file = createRoot().place('a', bytesOf('x'))
      expect(grow(openFile(file))).toBe(wasi.ERRNO_NOSPC)
      expect(textOf(file)).toBe('x')
    },
  )

  it('frees its room when it is deleted or truncated, but not while a descriptor is open', () => {
    const open = new Set<unknown>()
    const quota: Quota = createQuota({ bytes: 1_000, nodes: 10 }, () => measureUsage(root, open))
    const root = new MemoryDirectory(quota)
    const file = root.place('a', new Uint8Array(900))
    if (file) open.add(openFile(file))
    root.contents.delete('a')
    expect(root.place('b', new Uint8Array(900))).toBeUndefined()
    open.clear()
    expect(root.place('b', new Uint8Array(900))).toBeInstanceOf(MemoryFile)
    expect(root.place('b', new Uint8Array(10))).toBeInstanceOf(MemoryFile)
    expect(root.place('c', new Uint8Array(900))).toBeInstanceOf(MemoryFile)
  })

  it('counts what only a descriptor of a directory leads to, once and also in a circle', () => {
    const open = new Set<unknown>()
    const quota: Quota = createQuota({ bytes: 1_000, nodes: 20 }, () => measureUsage(root, open))
    const root = new MemoryDirectory(quota)
    root.place('outer/inner/file', new Uint8Array(900))
    const outer = root.contents.get('outer')
    const inner = outer instanceof MemoryDirectory ? outer.contents.get('inner') : undefined
    if (!outer || !(inner instanceof MemoryDirectory)) throw new Error('A directory is missing')
    root.contents.delete('outer')
    inner.contents.set('outer', outer)
    expect(measureUsage(root, open).bytes).toBe(0)
    open.add(new OpenDirectory(inner))
    expect(measureUsage(root, open)).toEqual({ bytes: 900, nodes: 5 })
    expect(root.place('b', new Uint8Array(900))).toBeUndefined()
  })

  it('refuses a position before its beginning, and an unknown whence', () => {
    const open = openFile(createRoot().place('a', bytesOf('abc')))
    expect(open.fd_seek(-1n, wasi.WHENCE_SET)).toMatchObject({ ret: wasi.ERRNO_INVAL })
    expect(open.fd_seek(0n, 7)).toMatchObject({ ret: wasi.ERRNO_INVAL })
  })

  it('reports when it was changed, where programs look', () => {
    const before = BigInt(Date.now()) * 1_000_000n
    const file = createRoot().place('a', bytesOf('abc'))
    const view = new DataView(new ArrayBuffer(64))
    file?.stat().write_bytes(view, 0)
    expect(view.getBigUint64(32, true)).toBe(3n)
    for (const at of [40, 48, 56]) {
      // As a bigint: so many nanoseconds are beyond what a number holds exactly.
      expect(view.getBigUint64(at, true)).toBeGreaterThanOrEqual(before)
    }
  })
})

describe('A quota', () => {
  it('is measured only once it seems used up', () => {
    let measured = 0
    const quota = createQuota({ bytes: 100, nodes: 10 }, () => {
      measured += 1
      return { bytes: 50, nodes: 1 }
    })
    for (let i = 0; i < 10; i += 1) expect(quota.take(10, 0)).toBe(true)
    expect(measured).toBe(0)
    // Half of what was taken has been given back meanwhile.
    expect(quota.take(50, 0)).toBe(true)
    expect(measured).toBe(1)
  })

  it('refuses what exceeds it, and counts nothing of that', () => {
    const quota = createQuota({ bytes: 100, nodes: 2 }, () => ({ bytes: 0, nodes: 0 }))
    expect(quota.take(101, 0)).toBe(false)
    expect(quota.take(0, 3)).toBe(false)
    expect(quota.take(100, 2)).toBe(true)
  })
})
