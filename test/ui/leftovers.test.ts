import { describe, expect, it } from 'vitest'
import { LEFTOVERS } from '../../ui/documents/leftovers.ts'

const left = (...paths: string[]) => paths.filter((path) => !LEFTOVERS.test(path))

describe('Chosen and dropped files', () => {
  // paperless-ngx/paperless-ngx#5924, paperless-ngx/paperless-ngx#2670, immich-app/immich#12566
  it('are without what systems and office programs leave in folders, at every depth', () => {
    const names = ['desktop.ini', 'THUMBS.DB', '@eaDir/a.md/SYNO.jpg', '~$a.docx']
    expect(left(...names, ...names.map((name) => `/f/g/${name}`))).toEqual([])
    const kept = [
      'a.md',
      '/f/a.b.md',
      'f/lost+found.md',
      'f/desktop.ini.md',
      'f/my ~$a.docx',
      'desktop_ini',
      'f/thumbs-db',
    ]
    expect(left(...kept)).toEqual(kept)
  })

  it('are without what a folder hides, but not without a hidden file that is chosen itself', () => {
    expect(left('f/.git/config', 'f/.DS_Store', '/f/.env', 'f/node_modules/x/readme.md')).toEqual(
      [],
    )
    expect(left('.notes.md', '/.notes.md')).toEqual(['.notes.md', '/.notes.md'])
  })
})
