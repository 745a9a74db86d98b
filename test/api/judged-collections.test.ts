import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../scripts/eval/evaluate.ts'
import { isLong, onlyLong } from '../support/long.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const COLLECTIONS = resolve(import.meta.dirname, '../../../shared/data')

const TIMEOUT_MS = 300_000
/** nDCG@10 by words alone. */
const CRANFIELD: [string, number] = ['cranfield', 0.42]
const CACM: [string, number] = ['cacm', 0.525]

// Judged collections are too large for the repository; where they lie beside it, they are measured.
describe.skipIf(!(isLong && existsSync(COLLECTIONS)))(
  'judged collections over HTTP (needs ../shared/data)',
  onlyLong,
  () => {
    it.each([CRANFIELD, CACM])(
      '%s reaches nDCG@10 of %d by words alone',
      { timeout: TIMEOUT_MS },
      async (name, goal) => {
        const { url } = await startServer()
        const result = await evaluate({
          folder: resolve(COLLECTIONS, name),
          url,
          key: TEST_KEY,
          graded: false,
          progress: () => undefined,
        })
        expect(result.failed).toBe(0)
        expect(result.ndcg).toBeGreaterThanOrEqual(goal)
      },
    )
  },
)
