import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import { createBubblewrapSandbox } from '../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts'
import type { SandboxLimits } from '../../src/schemas/sandbox.ts'
import { describeSandbox } from '../contracts/sandbox.contract.ts'
import { describeSandboxAttacks } from '../contracts/sandbox-attacks.contract.ts'

const bubblewrap = { create: (limits: SandboxLimits) => createBubblewrapSandbox({ limits }) }

describe.skipIf(!existsSync('/usr/bin/bwrap'))(
  'Sandboxes on this machine (needs bubblewrap)',
  () => {
    describeSandbox('bubblewrap', bubblewrap)
    describeSandboxAttacks('bubblewrap', bubblewrap)
  },
)
