import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { mayExist } from '../../packages/client/src/command-line/add.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const NOBODY = 65_534

it('A file in a folder that must not be read counts as there, and one that is gone does not', async () => {
  const folder = await temporaryDirectory()
  const closed = join(folder, 'closed')
  await mkdir(closed)
  await writeFile(join(folder, 'file.md'), 'Swifts')
  await chmod(folder, 0o755)
  await chmod(closed, 0o000)
  const isRoot = process.geteuid?.() === 0
  // Root may read everything.
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    const paths = ['file.md', 'closed/a.md', 'gone.md', 'file.md/a.md']
    const found = await Promise.all(paths.map((path) => mayExist(join(folder, path))))
    expect(found).toEqual([true, true, false, false])
  } finally {
    if (isRoot) process.seteuid?.(0)
    await chmod(closed, 0o700)
  }
})
