import { createBubblewrapSandbox } from '../../src/bubblewrap/bubblewrap-sandbox.ts'
import { SandboxLimits } from '../../src/limits.ts'

// A server that runs the code of its one argument, and prints what comes of it.
const { signal } = new AbortController()
const sandbox = createBubblewrapSandbox({ limits: SandboxLimits.parse({ seconds: 20 }) })
const session = await sandbox.open(signal)
const result = await session.run({ code: process.argv[2] ?? '' }, signal)
await sandbox.close()
process.stdout.write(JSON.stringify(result))
