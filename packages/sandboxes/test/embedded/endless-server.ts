import { createEmbeddedSandbox } from '../../src/embedded/embedded-sandbox.ts'
import { SandboxLimits } from '../../src/limits.ts'

// A server that is killed while code of its sandbox runs; the argument marks that sandbox.
const limits = SandboxLimits.parse({ fileMegabytes: Number(process.argv[2]), seconds: 600 })
const { signal } = new AbortController()
const session = await createEmbeddedSandbox({ limits }).open(signal)
const running = session.run({ code: 'while True: pass' }, signal)
process.stdout.write('running\n')
await running
