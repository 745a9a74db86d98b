import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { runTool } from './run-tool.ts'

// `npm run test:qdrant -- <url>`: the index's suite on a real Qdrant, in collections of its own; with the path of
// Qdrant's program instead, on nodes that it starts, and what servers share on three of them.
const SUITE = 'test/system/qdrant.test.ts'
const NODES = [
  SUITE,
  'test/system/qdrant-nodes.test.ts',
  ...['two-servers', 'migrate', 'migrate-killed', 'rights-matrix', 'replacement-schedule'].map(
    (name) => `test/system/postgres/${name}.test.ts`,
  ),
]

const [place, ...more] = process.argv.slice(2)
if (place === undefined || more.length > 0 || !(URL.canParse(place) || existsSync(place))) {
  console.error(
    "Usage: npm run test:qdrant -- <url of a Qdrant, or path of its program>   (the url's key in QDRANT_API_KEY)",
  )
  process.exitCode = 2
} else {
  const isUrl = URL.canParse(place)
  if (isUrl) process.env.TEST_QDRANT_URL = place
  else process.env.TEST_QDRANT_PROGRAM = resolve(place)
  const projects = isUrl ? ['system'] : ['system', 'postgres']
  const passed = await runTool(
    'vitest',
    'run',
    ...projects.map((name) => `--project=${name}`),
    ...(isUrl ? [SUITE] : NODES),
  )
  process.exitCode = passed ? 0 : 1
}
