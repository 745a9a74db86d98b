import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createBubblewrapSandbox } from '../../src/bubblewrap/bubblewrap-sandbox.ts'
import { SandboxLimits } from '../../src/limits.ts'

const LIMITS = SandboxLimits.parse({ memoryMegabytes: 100 })
const { signal } = new AbortController()
const isRunning = (pid: number) => existsSync(`/proc/${pid}`)

it.runIf(existsSync('/usr/bin/python3'))(
  'A sandbox that cannot be put into its control group leaves neither a process nor the group (needs Python)',
  async () => {
    const added: number[] = []
    let removed = 0
    const group = {
      async add(pid: number) {
        added.push(pid)
        throw new Error('No space left on device')
      },
      async remove() {
        removed += 1
        expect(added.filter(isRunning)).toEqual([])
      },
    }
    const sandbox = createBubblewrapSandbox({ limits: LIMITS, createGroup: async () => group })
    await expect(sandbox.open(signal)).rejects.toThrow('No space left')
    expect({ added: added.length, removed }).toEqual({ added: 1, removed: 1 })
    await sandbox.close()
  },
)
