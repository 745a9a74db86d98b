import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type RunResult, SandboxLimits } from '@agent-server/sandboxes'
import { describe, expect, it } from 'vitest'
import { createBubblewrapSandbox } from '../../packages/sandboxes/src/bubblewrap/bubblewrap-sandbox.ts'
import { describeSandbox } from '../../packages/sandboxes/test/contracts/sandbox.contract.ts'
import { processesWith } from '../../packages/sandboxes/test/contracts/sandbox.targets.ts'
import { describeSandboxAttacks } from '../../packages/sandboxes/test/contracts/sandbox-attacks.contract.ts'

const bubblewrap = { create: (limits: SandboxLimits) => createBubblewrapSandbox({ limits }) }
const { signal } = new AbortController()

/** Only root may make control groups here. */
const isRoot = process.getuid?.() === 0

describe.skipIf(!existsSync('/usr/bin/bwrap'))(
  'Sandboxes on this machine (needs bubblewrap)',
  () => {
    describeSandbox('bubblewrap', bubblewrap)
    describeSandboxAttacks('bubblewrap', bubblewrap)

    it('have room for so many files in the working directory and in /tmp together', async () => {
      const limits = SandboxLimits.parse({ fileMegabytes: 8 })
      const sandbox = createBubblewrapSandbox({ limits })
      const session = await sandbox.open(signal)
      const { stdout } = await session.run({ code: FILLED }, signal)
      const [most = 0, left] = stdout.trim().split(' ')
      expect(Number(most)).toBeGreaterThan(6)
      expect(Number(most)).toBeLessThanOrEqual(8)
      expect(left).toBe('/work')
      // Neither place can be taken away, on which the next run depends.
      expect((await session.run({ code: 'print(1)' }, signal)).stdout).toBe('1\n')
      await sandbox.close()
    })

    it('leave neither a process nor a control group behind, whichever way they end', async () => {
      // Stands in the command line of each process, and tells them from those of other tests.
      const limits = SandboxLimits.parse({ seconds: 1, fileMegabytes: 37 })
      // A server that was killed earlier may have left empty ones.
      const others = controlGroups()
      const sandbox = createBubblewrapSandbox({ limits })
      const [killed, timedOut, ended] = await Promise.all(
        [1, 2, 3, 4].map(() => sandbox.open(signal)),
      )
      expect(await processesWith(`"fileBytes":${37 * 2 ** 20}`)).not.toEqual([])
      await killed?.kill()
      await timedOut?.run({ code: 'while True: pass' }, signal)
      await ended?.run({ code: 'import os\nos._exit(0)' }, signal)
      await ended?.kill()
      await sandbox.close()
      expect(await processesWith(`"fileBytes":${37 * 2 ** 20}`)).toEqual([])
      expect(controlGroups().filter((path) => !others.includes(path))).toEqual([])
    })

    it('get nothing that the server was handed, and no memory that belongs to no process', () => {
      const { stdout } = runInServer(FOUND, 'exec 40</etc/hostname;')
      expect(stdout).toBe('1 1 1 1 True\n')
    })

    it('hold all their processes together to the memory of one, also without control groups', () => {
      const started = performance.now()
      const { outcome, stdout } = runInServer(HOGS.replaceAll('0.5', '15'), '', UNPRIVILEGED)
      expect({ outcome, stdout }).toEqual({ outcome: 'crashed', stdout: '' })
      expect(performance.now() - started).toBeLessThan(15_000)
    })
  },
)

describe.skipIf(!existsSync('/usr/bin/bwrap') || !isRoot)(
  'The control group of a sandbox (needs bubblewrap and root)',
  () => {
    it('holds all its processes together to the memory of one', async () => {
      const sandbox = createBubblewrapSandbox({ limits: SandboxLimits.parse({}) })
      const session = await sandbox.open(signal)
      const { stdout, outcome } = await session.run({ code: HOGS }, signal)
      if (outcome === 'finished') expect(stdout).toContain('-9')
      await sandbox.close()
    })
  },
)

/** How many megabytes have room in both places, by turns; then takes away all that can be. */
const FILLED = `
import os, shutil
most = 0
try:
    for i in range(32):
        with open(f"{(os.getcwd(), '/tmp')[i % 2]}/{i}", "wb") as file: file.write(b"x" * 2**20)
        most += 1
except OSError: pass
for place in ("/work", "/tmp", os.getcwd(), os.path.realpath("/tmp")): shutil.rmtree(place, ignore_errors=True)
print(most, "/work" if os.path.isdir("/work") and os.path.isdir("/tmp") else "gone")`

/** Four times 150 MB: each within the limit of 256 MB, all of them far beyond it. */
const HOGS = `
import os, signal, time
def hog():
    held = b"x" * (150 * 2**20)
    time.sleep(0.5)
    os._exit(0)
pids = []
for _ in range(4):
    pid = os.fork()
    if pid == 0: hog()
    pids.append(pid)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids])`

/** Errors of calls that make such memory, and whether the descriptor of the server is not there. */
const FOUND = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def error(call, *parameters): return ctypes.get_errno() if call(*parameters) < 0 else 0
print(error(libc.memfd_create, b"x", 0), error(libc.shmget, 0, 4096, 0o1600),
    error(libc.semget, 0, 1, 0o1600), error(libc.msgget, 0, 0o1600),
    not any("hostname" in os.path.realpath(f"/proc/self/fd/{fd}") for fd in range(3, 100)))`

/** A user who may make no control groups. */
const UNPRIVILEGED = isRoot ? 'setpriv --reuid 65534 --regid 65534 --clear-groups' : ''

/** What a server of its own makes of the code. */
function runInServer(code: string, before: string, as = ''): RunResult {
  const server = fileURLToPath(
    new URL('../../packages/sandboxes/test/bubblewrap/one-run-server.ts', import.meta.url),
  )
  const command = `${before} exec ${as} "$0" "$1" "$2"`
  const output = execFileSync('/bin/bash', ['-c', command, process.execPath, server, code])
  return JSON.parse(output.toString())
}

function controlGroups(): string[] {
  const found = execFileSync('find', ['/sys/fs/cgroup', '-name', 'agent-server-sandbox-*'])
  return found.toString().split('\n').filter(Boolean)
}
