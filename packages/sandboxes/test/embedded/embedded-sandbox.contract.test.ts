import { createEmbeddedSandbox } from '../../src/embedded/embedded-sandbox.ts'
import type { SandboxLimits } from '../../src/limits.ts'
import { describeSandbox } from '../contracts/sandbox.contract.ts'
import { describeSandboxAttacks } from '../contracts/sandbox-attacks.contract.ts'

const embedded = { create: (limits: SandboxLimits) => createEmbeddedSandbox({ limits }) }

describeSandbox('embedded', embedded)
describeSandboxAttacks('embedded', embedded)
