import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createBubblewrapSandbox } from '../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts'
import { SandboxLimits } from '../../src/schemas/sandbox.ts'
import { describeSandbox } from '../contracts/sandbox.contract.ts'
import { processesWith } from '../contracts/sandbox.targets.ts'
import { describeSandboxAttacks } from '../contracts/sandbox-attacks.contract.ts'

const bubblewrap = { create: (limits: SandboxLimits) => createBubblewrapSandbox({ limits }) }
const { signal } = new AbortController()

/** Only root may make control groups here. */
const isRoot = process.getuid?.() === 0

describe.skipIf(!existsSync('/usr/bin/bwrap'))(
  'Sandboxes on this machine (needs bubblewrap)',
  () => {
    describeSandbox('bubblewrap', bubblewrap)
    describeSandboxAttacks('bubblewrap', bubblewrap)

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

function controlGroups(): string[] {
  const found = execFileSync('find', ['/sys/fs/cgroup', '-name', 'agent-server-sandbox-*'])
  return found.toString().split('\n').filter(Boolean)
}
