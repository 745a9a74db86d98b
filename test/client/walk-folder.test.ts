import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { walkFolder } from '../../packages/client/src/command-line/walk-folder.ts'
import { folderOf, temporaryDirectory } from '../support/temporary-files.ts'

const { signal } = new AbortController()
const ALL = { include: [], hidden: false }

describe('The files of a folder', () => {
  it('are found at every depth, in the same order each time', async () => {
    const folder = await folderOf('b.md', 'a/c.txt', 'a/b/d ü.pdf', 'a.txt')
    expect(await walkFolder(folder, ALL, signal)).toEqual([
      'a.txt',
      'a/b/d ü.pdf',
      'a/c.txt',
      'b.md',
    ])
  })

  it('leave out what is hidden and what is installed, unless it is asked for', async () => {
    const folder = await folderOf('a.md', '.env', '.git/config', 'node_modules/x/readme.md')
    expect(await walkFolder(folder, ALL, signal)).toEqual(['a.md'])
    expect(await walkFolder(folder, { ...ALL, hidden: true }, signal)).toHaveLength(4)
  })

  // paperless-ngx/paperless-ngx#5924, paperless-ngx/paperless-ngx#2670, immich-app/immich#12566
  it('leave out what systems and office programs put there, at every depth', async () => {
    const names = ['a.md', 'desktop.ini', 'THUMBS.DB', '~$a.docx', '@eaDir/a.md/SYNO.jpg']
    const folder = await folderOf(...names, ...names.map((name) => `b/${name}`))
    expect(await walkFolder(folder, ALL, signal)).toEqual(['a.md', 'b/a.md'])
    expect(await walkFolder(folder, { ...ALL, hidden: true }, signal)).toHaveLength(10)
  })

  it('are those that match one of the patterns', async () => {
    const folder = await folderOf('a.md', 'b/c.md', 'b/d.txt', 'e.pdf')
    const matching = (...include: string[]) => walkFolder(folder, { ...ALL, include }, signal)
    expect(await matching('**/*.md')).toEqual(['a.md', 'b/c.md'])
    expect(await matching('*.md', 'b/*.txt')).toEqual(['a.md', 'b/d.txt'])
    expect(await matching('**/[c-e].{md,txt}')).toEqual(['b/c.md', 'b/d.txt'])
    expect(await matching('?.[!m]*')).toEqual(['e.pdf'])
    expect(await matching('.*', '(a|b)')).toEqual([])
  })

  it('are none that a link points to, though the folder itself may be one', async () => {
    const elsewhere = await folderOf('secret.txt')
    const folder = await folderOf('a.md')
    await symlink(join(elsewhere, 'secret.txt'), join(folder, 'link.txt'))
    await symlink(elsewhere, join(folder, 'folder'))
    expect(await walkFolder(folder, ALL, signal)).toEqual(['a.md'])
    const link = join(await temporaryDirectory(), 'link')
    await symlink(folder, link)
    expect(await walkFolder(link, ALL, signal)).toEqual(['a.md'])
  })

  // immich-app/immich#15515, navidrome/navidrome#328
  it('are also the folders that cannot be read', async () => {
    const folder = await folderOf('a.md', 'b/c.md')
    await mkdir(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('stra\xdfe', 'latin1')]))
    const paths = ['a.md', 'b/c.md', 'stra\uFFFDe']
    expect(await walkFolder(folder, ALL, signal)).toEqual(paths)
    expect(await walkFolder(folder, { ...ALL, include: ['*.md'] }, signal)).toEqual([
      'a.md',
      'stra\uFFFDe',
    ])
  })

  it('of no folder are an error', async () => {
    await expect(walkFolder('nowhere', ALL, signal)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(walkFolder('.', ALL, AbortSignal.abort(new Error('stopped')))).rejects.toThrow(
      'stopped',
    )
  })
})
