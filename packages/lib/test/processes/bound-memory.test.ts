import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { boundMemory } from '@agent-server/lib/processes/bound-memory.ts'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'

const PROCESSES = new URL('../../src/processes/', import.meta.url)

/** What a module prints in a process of its own. */
async function run(code: string) {
  const file = join(await temporaryDirectory(), 'run.mjs')
  await writeFile(file, code)
  const command = `ulimit -n 128; exec ${process.execPath} ${file}`
  return spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8', env: {} })
}

describe('The bound of a child’s memory', () => {
  it('ends a child that cannot be watched, with that reason', async () => {
    const child = await run(`
      import { spawn } from 'node:child_process'
      import { once } from 'node:events'
      import { openSync } from 'node:fs'
      const { boundMemory } = await import('${PROCESSES}bound-memory.ts')
      const child = spawn('/bin/sleep', ['60'], { stdio: 'ignore' })
      try { for (;;) openSync('/dev/null') } catch {}
      const bound = boundMemory(child, 2 ** 30)
      const [, signal] = await once(child, 'exit')
      console.log(signal, bound.reason())`)
    expect(child).toMatchObject({
      stderr: '',
      stdout: expect.stringMatching(/^SIGKILL Its memory could not be watched: .*[A-Z]/),
    })
  })

  it('is exceeded only above its value', async () => {
    const watch = async (maxBytes: number) => {
      const child = spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] })
      const bound = boundMemory(child, maxBytes)
      if (maxBytes > 1) child.stdin?.end()
      await once(child, 'exit')
      return bound.reason()
    }
    expect(await watch(2 ** 30)).toBeUndefined()
    expect(await watch(1)).toMatch(/^It held \d+ bytes$/)
  })
})
