import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { type Sandbox, SandboxLimits } from '@agent-server/sandboxes'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBubblewrapSandbox } from '../../packages/sandboxes/src/bubblewrap/bubblewrap-sandbox.ts'
import { createDockerSandbox } from '../../packages/sandboxes/src/docker/docker-sandbox.ts'
import { createEmbeddedSandbox } from '../../packages/sandboxes/src/embedded/embedded-sandbox.ts'
import { processesWith } from '../../packages/sandboxes/test/contracts/sandbox.targets.ts'
import { docker, hasEngine, usePythonImage } from './docker.ts'

/** What a process may grow by for reasons of its own. */
const SLACK_MEGABYTES = 30
const IDLE_CONNECTIONS_MS = 20_000

const { signal } = new AbortController()

/** Limits that no other test has: they stand in the command line of the processes. */
const LIMITS = SandboxLimits.parse({ fileMegabytes: 53 })
const MARK = `"fileBytes":${53 * 2 ** 20}`

const openDescriptors = async () => (await readdir('/proc/self/fd')).length

/** Megabytes of the largest process of a sandbox: the one at work, not the one that is prepared meanwhile. */
async function memoryOfSandbox(): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (!line.includes(MARK)) return 0
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
    }),
  )
  return Math.max(0, ...sizes)
}

/** Writes, reads and deletes a file, and fills some memory, as code does. */
const CODE = `
data = [str(i) for i in range(1000)]
with open("file.txt", "w") as file: file.write("".join(data))
with open("file.txt") as file: print(len(file.read()))
import os
os.remove("file.txt")`

async function runMany(sandbox: Sandbox, runs: number): Promise<{ before: number; after: number }> {
  const session = await sandbox.open(signal)
  let before = 0
  for (let run = 0; run < runs; run += 1) {
    const { outcome, stdout, stderr } = await session.run({ code: CODE }, signal)
    if (stdout !== '2890\n') throw new Error(`Run ${run} ${outcome}: ${stdout}${stderr}`)
    if (run === runs / 10) before = await memoryOfSandbox()
  }
  const after = await memoryOfSandbox()
  await session.kill()
  return { before, after }
}

async function runAtOnce(sandbox: Sandbox, count: number): Promise<void> {
  const sessions = await Promise.all(Array.from({ length: count }, () => sandbox.open(signal)))
  const results = await Promise.all(
    sessions.map((session, i) => session.run({ code: `print(${i})` }, signal)),
  )
  expect(results.map(({ stdout }) => stdout)).toEqual(sessions.map((_session, i) => `${i}\n`))
}

/** Files of a sandbox are in its memory, and go with its process. */
async function leavesNothing(sandbox: Sandbox, runs: number, count: number): Promise<void> {
  onTestFinished(() => sandbox.close())
  // The first one starts the thread that watches the memory of all, which stays.
  await runAtOnce(sandbox, 1)
  const descriptors = await openDescriptors()
  const { before, after } = await runMany(sandbox, runs)
  expect(before).toBeGreaterThan(1)
  expect(after).toBeLessThan(before + SLACK_MEGABYTES)
  await runAtOnce(sandbox, count)
  await sandbox.close()
  expect(await processesWith(MARK)).toEqual([])
  // Connections to an engine are kept for the next request, and closed by themselves after some seconds.
  const options = { timeout: IDLE_CONNECTIONS_MS }
  await expect.poll(openDescriptors, options).toBeLessThanOrEqual(descriptors + 2)
}

describe('The kind embedded', () => {
  it('takes no more memory after 1,000 runs, and leaves nothing of 6 sandboxes at once', async () => {
    await leavesNothing(createEmbeddedSandbox({ limits: LIMITS }), 1_000, 6)
  })
})

describe.skipIf(!existsSync('/usr/bin/bwrap'))('The kind bubblewrap (needs bubblewrap)', () => {
  it('takes no more memory after 1,000 runs, and leaves nothing of 50 sandboxes at once', async () => {
    await leavesNothing(createBubblewrapSandbox({ limits: LIMITS }), 1_000, 50)
  })
})

describe.skipIf(!hasEngine())('The kind docker (needs a Docker engine)', () => {
  const image = usePythonImage()

  it('takes no more memory after 1,000 runs, and leaves nothing of 50 sandboxes at once', async () => {
    const owner = randomUUID()
    const host = process.env.DOCKER_HOST
    const log = { warn: () => undefined }
    await leavesNothing(createDockerSandbox({ limits: LIMITS, image, host, owner, log }), 1_000, 50)
    const filter = `label=agent-server.sandbox=${owner}`
    expect((await docker('ps', '--all', '--quiet', '--filter', filter)).stdout).toBe('')
  })
})
