import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { walkFolder } from '../../../src/documents/watch/walk-folder.ts'
import { folderOf, temporaryDirectory } from '../../support/temporary-files.ts'

const { signal } = new AbortController()

const pathsIn = async (folder: string) =>
  [...(await walkFolder(folder, signal)).files.keys()].sort()

describe('The files of a watched folder', () => {
  it('are found at every depth, and differ from what they were', async () => {
    const folder = await folderOf('b.md', 'a/b/d ü.pdf')
    const before = await walkFolder(folder, signal)
    expect([...before.files.keys()].sort()).toEqual(['a/b/d ü.pdf', 'b.md'])
    expect(before.folders.sort()).toEqual(['', 'a', 'a/b'])
    expect(before.unread.size).toBe(0)
    await writeFile(join(folder, 'b.md'), 'other')
    const after = await walkFolder(folder, signal)
    expect(after.files.get('b.md')).not.toBe(before.files.get('b.md'))
    expect(after.files.get('a/b/d ü.pdf')).toBe(before.files.get('a/b/d ü.pdf'))
  })

  it('leave out what is hidden, installed, unfinished, or the lock of a program', async () => {
    const folder = await folderOf(
      'a.md',
      '.env',
      '.git/config',
      'node_modules/x/readme.md',
      '~$letter.docx',
      'film.part',
      'page.crdownload',
      'a.md~',
    )
    expect(await pathsIn(folder)).toEqual(['a.md'])
  })

  it('are none that a link points to, though the folder itself may be one', async () => {
    const elsewhere = await folderOf('secret.txt')
    const folder = await folderOf('a.md')
    await symlink(join(elsewhere, 'secret.txt'), join(folder, 'link.txt'))
    await symlink(elsewhere, join(folder, 'folder'))
    expect(await pathsIn(folder)).toEqual(['a.md'])
    const link = join(await temporaryDirectory(), 'link')
    await symlink(folder, link)
    expect(await pathsIn(link)).toEqual(['a.md'])
  })

  it('are refused as a whole if there are too many, and if there is no folder', async () => {
    const folder = await folderOf('a/1', 'a/2', 'b/3')
    expect((await walkFolder(folder, signal, 3)).files.size).toBe(3)
    await expect(walkFolder(folder, signal, 2)).rejects.toThrow('more than 2 files')
    await expect(walkFolder(join(folder, 'c'), signal)).rejects.toMatchObject({ code: 'ENOENT' })
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(walkFolder(folder, stopped)).rejects.toThrow('stopped')
  })
})
