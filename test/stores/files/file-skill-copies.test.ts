import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileLockFiles } from '../../../src/stores/files/lock-file.ts'
import { createFileSkillCopies } from '../../../src/stores/files/skill-copies.ts'
import { describeSkillCopies } from '../../contracts/skill-copies.contract.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const SOURCE = 'https://example.org/a.zip'
const COPY = { digest: 'one', bytes: Uint8Array.of(1) }

async function create() {
  const base = await temporaryDirectory()
  const directory = join(base, 'skills')
  return {
    directory,
    open: () => createFileSkillCopies({ openLockFile: fileLockFiles(base), directory }),
  }
}

describeSkillCopies('A directory', { create })

describe('A copy that is a file', () => {
  it('is made again where it was removed, and was accepted all the same', async () => {
    const { directory, open } = await create()
    const copies = await open()
    await copies.keep(SOURCE, COPY, undefined)
    await rm(directory, { recursive: true })
    expect(await copies.accepted(SOURCE)).toBe('one')
    expect(await copies.read(SOURCE)).toBeUndefined()
    expect(await copies.keep(SOURCE, COPY, 'one')).toBe(true)
    expect(await copies.read(SOURCE)).toMatchObject({ digest: 'one' })
  })

  it('leaves nothing half done beside it', async () => {
    const { directory, open } = await create()
    const copies = await open()
    await Promise.all([copies.keep(SOURCE, COPY, undefined), copies.keep(SOURCE, COPY, undefined)])
    expect(await readdir(directory)).toHaveLength(1)
  })
})
