import { readFileSync } from 'node:fs'

/** The Python that a kind of sandbox runs: what all have in common, then its own loop. */
export function readProgram(loop: URL): string {
  const common = new URL('./cell.py', import.meta.url)
  return [common, loop].map((url) => readFileSync(url, 'utf8')).join('\n')
}
