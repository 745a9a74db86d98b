import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isLong, long, onlyLong } from '../../../../test/support/long.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { createEmbeddedSandbox, PACKAGED_INTERPRETER } from '../../src/embedded/embedded-sandbox.ts'
import { SandboxLimits } from '../../src/limits.ts'
import { processesWith } from '../contracts/sandbox.targets.ts'

const { signal } = new AbortController()

/** Limits that no other test has: they stand in the command line of the processes. */
function marked(fileMegabytes: number) {
  const mark = `"fileBytes":${fileMegabytes * 2 ** 20}`
  return { limits: SandboxLimits.parse({ fileMegabytes, seconds: 1 }), mark }
}

describe('The embedded sandbox', () => {
  it(
    'leaves no process behind, whichever way its sessions end, and keeps none in reserve',
    onlyLong,
    async () => {
      const { limits, mark } = marked(41)
      const sandbox = createEmbeddedSandbox({ limits })
      const [killed, timedOut, ended] = [
        await sandbox.open(signal),
        await sandbox.open(signal),
        await sandbox.open(signal),
      ]
      await killed.kill()
      expect(await timedOut.run({ code: 'while True: pass' }, signal)).toMatchObject({
        outcome: 'timed-out',
      })
      await ended.run({ code: 'import os\nos.abort()' }, signal)
      expect(await processesWith(mark)).toEqual([])
      await sandbox.open(signal)
      await sandbox.close()
      expect(await processesWith(mark)).toEqual([])
    },
  )

  it('ends with a server that is killed, even in an endless loop', async () => {
    const { mark } = marked(47)
    const server = fileURLToPath(new URL('./endless-server.ts', import.meta.url))
    const child = spawn(process.execPath, [server, '47'], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    expect(await processesWith(mark)).not.toEqual([])
    child.kill('SIGKILL')
    await expect.poll(() => processesWith(mark), { timeout: 20_000 }).toEqual([])
  })

  it(
    'takes no files into directories that are gone, and bounds the process that holds it all',
    long,
    async () => {
      const { limits } = marked(8)
      const sandbox = createEmbeddedSandbox({ limits: { ...limits, seconds: 60 } })
      onTestFinished(() => sandbox.close())
      const session = await sandbox.open(signal)
      const result = await session.run({ code: FILES_IN_REMOVED_DIRECTORIES }, signal)
      expect(result).toMatchObject({ outcome: 'finished', stdout: 'refused 20\n' })
      const again = await session.run({ code: FILES_DELETED_WHILE_OPEN }, signal)
      expect(again).toMatchObject({ outcome: 'finished', stdout: 'refused\n' })
      if (!isLong) return
      const innocent = await session.run({ code: FILES_THAT_COME_AND_GO }, signal)
      expect(innocent).toMatchObject({ outcome: 'finished', exitCode: 0 })
    },
  )

  it('runs only the expected interpreter', async () => {
    const path = join(await temporaryDirectory(), 'python.wasm')
    await copyFile(PACKAGED_INTERPRETER.path, path)
    const limits = SandboxLimits.parse({})

    const bytes = await readFile(path)
    bytes[bytes.length - 1] = 255
    await writeFile(path, bytes)
    const other = createEmbeddedSandbox({ limits, interpreter: { ...PACKAGED_INTERPRETER, path } })
    await expect(other.open(signal)).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  })

  it('starts its process for the check, and leaves none behind', async () => {
    const { limits, mark } = marked(37)
    await createEmbeddedSandbox({ limits }).check(signal)
    expect(await processesWith(mark)).toEqual([])
  })

  it('reports where it looked for a missing interpreter', async () => {
    const path = join(await temporaryDirectory(), 'nothing.wasm')
    const interpreter = { path, sha256: '0'.repeat(64) }
    const sandbox = createEmbeddedSandbox({ limits: SandboxLimits.parse({}), interpreter })
    await expect(sandbox.check(signal)).rejects.toThrow(path)
  })
})

const FILES_IN_REMOVED_DIRECTORIES = `
import os
held, refused = [], 0
for number in range(20):
    os.mkdir('d')
    directory = os.open('d', os.O_RDONLY)
    os.rmdir('d')
    try: held.append(os.open('x', os.O_CREAT | os.O_WRONLY, dir_fd=directory))
    except FileNotFoundError: refused += 1
    os.close(directory)
print('refused', refused)`

const FILES_DELETED_WHILE_OPEN = `
held = []
try:
    for number in range(20):
        file = open('x', 'wb')
        file.write(b'x' * 2**20)
        file.flush()
        os.remove('x')
        held.append(file)
except OSError: print('refused')
held.clear()`

const FILES_THAT_COME_AND_GO = `
for number in range(100):
    with open('y', 'wb') as file: file.write(b'x' * 7 * 2**20)
    os.remove('y')`
