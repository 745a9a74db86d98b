import { readFileSync } from 'node:fs'
import type { SandboxLimits } from '../../schemas/sandbox.ts'
import { BYTES_PER_KILOBYTE, BYTES_PER_MEGABYTE, MAX_FILES, MAX_NAME } from '../sandbox.ts'

/** What the program does itself where nothing around it does. */
interface OwnConfinement {
  /** Made where it is missing; otherwise the program works where it is started. */
  directory?: string
  /** Bytes of memory, and processes. */
  addressSpace?: number
  processes?: number
}

/** What a `python3` of a sandbox is called with, so that it takes jobs from its standard input. */
export function processParameters(limits: SandboxLimits, own: OwnConfinement = {}): string[] {
  const { fileMegabytes, outputKilobytes } = limits
  const settings = {
    ...own,
    outputBytes: outputKilobytes * BYTES_PER_KILOBYTE,
    fileBytes: fileMegabytes * BYTES_PER_MEGABYTE,
    files: MAX_FILES,
    name: MAX_NAME,
  }
  const program = readProgram(new URL('./process-driver.py', import.meta.url))
  return ['-I', '-B', '-c', program, JSON.stringify(settings)]
}

/** Files that the process and what it starts may have open, each. */
export const MAX_OPEN_FILES = 256
export const SHARED_MEMORY_BYTES = 16 * BYTES_PER_MEGABYTE

/** Bytes of address space: Python maps more than it uses. */
export function addressSpaceOf({ memoryMegabytes }: SandboxLimits): number {
  return 2 * memoryMegabytes * BYTES_PER_MEGABYTE
}

/** All that code finds in its environment: nothing of the server's, and what keeps libraries within their bounds. */
export const PROCESS_ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/work',
  LANG: 'C.UTF-8',
  MPLBACKEND: 'Agg',
  MPLCONFIGDIR: '/tmp',
  OPENBLAS_NUM_THREADS: '1',
} as const

/** The Python that a kind of sandbox runs: what all have in common, then its own loop. */
export function readProgram(loop: URL): string {
  const common = new URL('./cell.py', import.meta.url)
  return [common, loop].map((url) => readFileSync(url, 'utf8')).join('\n')
}
