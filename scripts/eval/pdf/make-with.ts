import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const DEADLINE_MS = 120_000

/** Runs a program on a file in a folder of its own, once or more, and returns the PDF with the same name that it makes. */
export async function makeWith(
  [program, ...parameters]: readonly [string, ...string[]],
  { source, name, runs = 1 }: { source: string; name: string; runs?: number },
): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'pdf-'))
  try {
    await writeFile(join(folder, name), source)
    const environment = { ...process.env, HOME: folder, SOURCE_DATE_EPOCH: '0' }
    const options = { cwd: folder, timeout: DEADLINE_MS, env: environment }
    for (let n = 0; n < runs; n++) await run(program, [...parameters, name], options)
    return await readFile(join(folder, name.replace(/\.\w+$/, '.pdf')))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
