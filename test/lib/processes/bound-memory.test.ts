import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { boundMemory } from '../../../src/lib/processes/bound-memory.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { countThreads } from '../../support/threads.ts'

const PROCESSES = new URL('../../../src/lib/processes/', import.meta.url)

/** What a module prints in a process of its own. */
async function run(code: string, environment: Record<string, string> = {}) {
  const file = join(await temporaryDirectory(), 'run.mjs')
  await writeFile(file, code)
  const command = `ulimit -n 128; exec ${process.execPath} ${file}`
  return spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8', env: environment })
}

describe('The bound of a child’s memory', () => {
  it('ends a child that cannot be watched, and says why', async () => {
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

  it('has a thread only while there is a child, and for a while after', async () => {
    const watch = async (maxBytes: number) => {
      const child = spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] })
      const bound = boundMemory(child, maxBytes, { idleMs: 20 })
      if (maxBytes > 1) child.stdin?.end()
      await once(child, 'exit')
      return bound.reason()
    }
    const before = countThreads()
    expect(await watch(2 ** 30)).toBeUndefined()
    await expect.poll(countThreads).toBeLessThanOrEqual(before)
    expect(await watch(1)).toMatch(/^It held \d+ bytes$/)
  })
})

it('What is compiled for jobs in the background ends no server where it does not start', async () => {
  const code = `
    const { precompileOnce } = await import('${PROCESSES}precompile.ts')
    precompileOnce('\\0', 0)
    setTimeout(() => console.log('lives'), 50)`
  const cache = join(await temporaryDirectory(), 'cache')
  const child = await run(code, { NODE_COMPILE_CACHE: cache })
  expect(child).toMatchObject({ stderr: '', stdout: 'lives\n' })
})
