import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { refusedFiles } from '../../packages/client/scripts/refused-files.ts'

const GENERATED = new URL(
  '../../packages/client/src/command-line/refused-files.ts',
  import.meta.url,
)

it('A folder’s importer leaves out what the server would refuse, and nothing else', () => {
  expect(readFileSync(GENERATED, 'utf8')).toBe(refusedFiles())
})
