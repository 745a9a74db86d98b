import { runTool } from './run-tool.ts'

// `npm run test:qdrant -- <url>`: the index's suite on a real Qdrant, in collections of its own.
const [url, ...more] = process.argv.slice(2)
if (url === undefined || more.length > 0 || !URL.canParse(url)) {
  console.error('Usage: npm run test:qdrant -- <url of a Qdrant>   (its key in QDRANT_API_KEY)')
  process.exitCode = 2
} else {
  process.env.TEST_QDRANT_URL = url
  const passed = await runTool('vitest', 'run', '--project=system', 'test/system/qdrant.test.ts')
  process.exitCode = passed ? 0 : 1
}
