import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createBubblewrapSandbox } from '../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts'
import { createEmbeddedSandbox } from '../../src/sandboxes/embedded/embedded-sandbox.ts'
import type { Sandbox } from '../../src/sandboxes/sandbox.ts'
import { SandboxLimits } from '../../src/schemas/sandbox.ts'
import { processesWith } from '../contracts/sandbox.targets.ts'

const RUNS = 1_000
const AT_ONCE = 50
/** What a process may grow by for reasons of its own. */
const SLACK_MEGABYTES = 30

const { signal } = new AbortController()

/** Limits that no other test has: they stand in the command line of the processes. */
const LIMITS = SandboxLimits.parse({ fileMegabytes: 53 })
const MARK = `"fileBytes":${53 * 2 ** 20}`

const openDescriptors = async () => (await readdir('/proc/self/fd')).length

/** Megabytes that the processes of sandboxes hold. */
async function memoryOfSandboxes(): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (!line.includes(MARK)) return 0
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Writes, reads and deletes a file, and fills some memory, as code does. */
const CODE = `
data = [str(i) for i in range(1000)]
with open("file.txt", "w") as file: file.write("".join(data))
with open("file.txt") as file: print(len(file.read()))
import os
os.remove("file.txt")`

async function runMany(sandbox: Sandbox): Promise<{ before: number; after: number }> {
  const session = await sandbox.open(signal)
  let before = 0
  for (let run = 0; run < RUNS; run += 1) {
    const { stdout, stderr } = await session.run({ code: CODE }, signal)
    if (stdout !== '2890\n') throw new Error(`Run ${run}: ${stdout}${stderr}`)
    if (run === RUNS / 10) before = await memoryOfSandboxes()
  }
  const after = await memoryOfSandboxes()
  await session.kill()
  return { before, after }
}

const KINDS = [
  ['embedded', () => createEmbeddedSandbox({ limits: LIMITS }), 4],
  ['bubblewrap', () => createBubblewrapSandbox({ limits: LIMITS }), AT_ONCE],
] as const

describe.skipIf(!existsSync('/usr/bin/bwrap')).each(KINDS)(
  'A thousand runs of kind %s (needs bubblewrap)',
  (_kind, create, atOnce) => {
    it('take no more memory at the end than at the beginning, and leave nothing', async () => {
      const descriptors = await openDescriptors()
      const sandbox = create()
      const { before, after } = await runMany(sandbox)
      expect(after).toBeLessThan(before + SLACK_MEGABYTES)

      const sessions = await Promise.all(Array.from({ length: atOnce }, () => sandbox.open(signal)))
      const results = await Promise.all(
        sessions.map((session, i) => session.run({ code: `print(${i})` }, signal)),
      )
      expect(results.map(({ stdout }) => stdout)).toEqual(sessions.map((_session, i) => `${i}\n`))
      await sandbox.close()
      expect(await processesWith(MARK)).toEqual([])
      expect(await openDescriptors()).toBeLessThanOrEqual(descriptors + 2)
    })
  },
)
