import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readProgram } from '../../src/python/process-program.ts'

const PYTHON = '/usr/bin/python3'
const DRIVER = new URL('../../src/python/process-driver.py', import.meta.url)

/** The program's parts without its last line: outside a sandbox its loop would end other people's processes. */
const parts = () => readProgram(DRIVER).replace(/^serve\(.*$/m, '')

/**
 * The kernel looks at one descriptor after the other: what is written between two looks is missing from its answer.
 * Here every look comes too early for the output.
 */
const EARLY_LOOK = `
look_at = select.select
def early(readers, *others):
    look_at(readers, *others)
    return look_at([max(readers)], *others, 0)
select.select = early
output = Output(100_000)
writer = output.writers[0]
lengths = []
for size in (60_000, 7):
    output.renew()
    os.write(writer, b"a" * size)
    lengths.append(len(output.drain()[0]))
print(lengths)
`

describe.skipIf(!existsSync(PYTHON))('The output of a sandbox (needs Python)', () => {
  it('is whole also where it comes while the driver looks for it', async () => {
    const run = promisify(execFile)
    const { stdout } = await run(PYTHON, ['-I', '-c', `${parts()}${EARLY_LOOK}`])
    expect(stdout).toBe('[60000, 7]\n')
  })
})
