import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim'
import { endWithParent } from '../../lib/processes/job.ts'
import { createQuota, MemoryDirectory, measureUsage } from './file-system.ts'
import { Channel, createJobLoop } from './job-loop.ts'
import { InputStream, OutputBudget, OutputStream, wasiImports } from './wasi.ts'

/** Passed as JSON, as the only argument of the process. */
export interface InterpreterSettings {
  interpreter: { path: string; sha256: string }
  /** Python source: the loop that runs one piece of code after the other. */
  program: string
  fileBytes: number
  outputBytes: number
  maximumPayload: number
}

/** The maximum number of files and directories. */
const MAX_NODES = 4_096
/** Ways from JavaScript to other processes and to native code; nothing here needs them. */
const FORBIDDEN = ['kill', '_kill', '_debugProcess', '_debugEnd', 'binding', 'dlopen']

const settings: InterpreterSettings = JSON.parse(process.argv[2] ?? '')
endWithParent()
for (const name of FORBIDDEN) Reflect.deleteProperty(process, name)

const most = { bytes: settings.fileBytes, nodes: MAX_NODES }
const quota = createQuota(most, () => measureUsage(root, system.fds))
const root = new MemoryDirectory(quota)
const work = new MemoryDirectory(quota)
const preopened = new PreopenDirectory('/', new Map())
preopened.dir = root

const budget = new OutputBudget(settings.outputBytes)
const stdin = new InputStream()
const stdout = new OutputStream(budget)
const stderr = new OutputStream(budget)
const { maximumPayload } = settings
const jobs = createJobLoop({ work, budget, stdin, stdout, stderr, maximumPayload })
const channel = new Channel(jobs, () => root.contents.delete('channel'))
root.contents.set('channel', channel)
root.contents.set('work', work)
root.contents.set('tmp', new MemoryDirectory(quota))

const system = new WASI(
  ['python', '-I', '-B', '-c', settings.program],
  ['HOME=/work', 'TMPDIR=/tmp', 'PYTHONUTF8=1'],
  [stdin, stdout, stderr, preopened],
  { debug: false },
)
const module = new WebAssembly.Module(readInterpreter(settings.interpreter))
const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasiImports(system) })
const { memory, _start: start } = instance.exports
if (!(memory instanceof WebAssembly.Memory) || typeof start !== 'function') {
  throw new Error('The interpreter is no WASI program')
}
process.exit(system.start({ exports: { memory, _start: () => start() } }))

function readInterpreter({
  path,
  sha256,
}: InterpreterSettings['interpreter']): Buffer<ArrayBuffer> {
  const bytes = readFileSync(path)
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found === sha256) return bytes
  throw new Error(`The interpreter is not the one that is expected: its SHA-256 is ${found}`)
}
