import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileLockFiles } from '../../../src/stores/files/lock-file.ts'
import { describeLockFiles, Names, NOBODY } from '../../contracts/lock-file.contract.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

describeLockFiles('A directory', {
  async create() {
    const directory = join(await temporaryDirectory(), 'below')
    return { open: async () => fileLockFiles(directory) }
  },
})

async function openNames() {
  const directory = await temporaryDirectory()
  const open = () => fileLockFiles(directory)('names', Names, NOBODY)
  return { open, path: join(directory, 'names.json') }
}

describe('A lock file on the disk', () => {
  it('is made with the first change', async () => {
    const { open, path } = await openNames()
    const lockFile = await open()
    await expect(stat(path)).rejects.toThrow('ENOENT')
    await lockFile.update(() => ({ names: ['a'] }))
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ names: ['a'] })
  })

  it.each(['', '{', '[]', '{"names":[1]}', '{"names":[],"more":1}'])(
    'is refused rather than begun anew: %j',
    async (text) => {
      const { open, path } = await openNames()
      await writeFile(path, text)
      await expect(open()).rejects.toThrow('is not a lock file')
    },
  )
})
