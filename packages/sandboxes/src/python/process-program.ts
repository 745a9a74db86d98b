import { readFileSync } from 'node:fs'
import type { SandboxLimits } from '../limits.ts'
import { BYTES_PER_KILOBYTE, BYTES_PER_MEGABYTE, MAX_FILES, MAX_NAME } from '../sandbox.ts'

/** Limits that the program must set itself because nothing around it does. */
interface OwnConfinement {
  /** Created if missing; by default the program works in the directory that it is started in. */
  directory?: string
  /** Bytes of memory, and number of processes. */
  addressSpace?: number
  processes?: number
}

/** The arguments for `python3` in a sandbox, with which it takes jobs from its standard input. */
export function processParameters(
  limits: SandboxLimits,
  confinement: OwnConfinement = {},
): string[] {
  const { fileMegabytes, outputKilobytes } = limits
  const settings = {
    ...confinement,
    outputBytes: outputKilobytes * BYTES_PER_KILOBYTE,
    fileBytes: fileMegabytes * BYTES_PER_MEGABYTE,
    files: MAX_FILES,
    name: MAX_NAME,
  }
  const program = readProgram(new URL('./process-driver.py', import.meta.url))
  return ['-I', '-B', '-c', program, JSON.stringify(settings)]
}

/** Open files per process. */
export const MAX_OPEN_FILES = 256
export const SHARED_MEMORY_BYTES = 16 * BYTES_PER_MEGABYTE

/** The limit on address space in bytes, twice the memory: Python maps more than it uses. */
export function addressSpaceOf({ memoryMegabytes }: SandboxLimits): number {
  return 2 * memoryMegabytes * BYTES_PER_MEGABYTE
}

/** The complete environment of the code: nothing of the server's, and settings that keep libraries within limits. */
export const PROCESS_ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/work',
  LANG: 'C.UTF-8',
  MPLBACKEND: 'Agg',
  MPLCONFIGDIR: '/tmp',
  OPENBLAS_NUM_THREADS: '1',
} as const

/** The Python program of a sandbox kind: the part shared by all kinds, then its own loop. */
export function readProgram(loop: URL): string {
  const common = new URL('./cell.py', import.meta.url)
  return [common, loop].map((url) => readFileSync(url, 'utf8')).join('\n')
}
