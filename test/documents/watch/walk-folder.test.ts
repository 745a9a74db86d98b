import { mkdir, symlink, writeFile } from 'node:fs/promises'
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
      '#a.md#',
    )
    expect(await pathsIn(folder)).toEqual(['a.md'])
  })

  // paperless-ngx/paperless-ngx#5924, paperless-ngx/paperless-ngx#2670, immich-app/immich#12566
  it('leave out what systems put there, at every depth', async () => {
    const names = ['a.md', 'desktop.ini', 'THUMBS.DB', '@eaDir/a.md/SYNO.jpg', '#recycle/a.md']
    const folder = await folderOf(...names, ...names.map((name) => `b/${name}`), 'lost+found/1')
    expect(await pathsIn(folder)).toEqual(['a.md', 'b/a.md'])
  })

  it('name those whose names are not UTF-8, which no path leads to', async () => {
    const folder = await folderOf('a.md')
    const at = (name: string) =>
      Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
    await writeFile(at('b\xfccher.md'), 'Books')
    await mkdir(at('stra\xdfe'))
    const { files, unread } = await walkFolder(folder, signal)
    expect([...files.keys()]).toEqual(['a.md'])
    const reason = 'has a name that is not UTF-8: rename it'
    expect(Object.fromEntries(unread)).toEqual({ 'b\uFFFDcher.md': reason, 'stra\uFFFDe': reason })
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
