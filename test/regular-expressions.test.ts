import { check } from 'recheck'
import { expect, it } from 'vitest'
import { onlyLong } from './support/long.ts'
import { isSlow, regularExpressions } from './support/regular-expressions.ts'

/** Where an expression may take longer than its text, and what bounds that: a folder, or one file. */
const BOUNDED: Readonly<Record<string, string>> = {
  'packages/deploy/': 'the operator’s own files',
  'packages/evaluation/': 'an answer in the operator’s evaluation, within the limit of answers',
  'packages/lib/src/env-file.ts': 'the operator’s own file',
  'packages/lib/src/environment.ts': 'the operator’s own file',
  'packages/lib/src/markdown/code-names.ts': '40 characters',
  'packages/lib/src/markdown/formulas.ts': '2,000 characters',
  'packages/lib/src/text/tokenise.ts': 'the characters of one code, MAX_CODE',
  'packages/models/src/completions/fallbacks.ts': 'the excerpt of a refusal',
  'packages/models/src/embeddings/embedder.ts': 'the operator’s name of a model',
  'packages/models/src/extractive/': 'a chunk, in lines',
  'packages/models/src/messages/fallbacks.ts': 'the excerpt of a refusal',
  'packages/models/src/responses/': 'the excerpt of a refusal',
  'packages/models/src/upstream/': 'the excerpt of a refusal, or 1,000 characters of an answer',
  'packages/office-tools/': 'a process with a deadline, of which each key has a share',
  'packages/readers/': 'a process with bounded processor time, of which each key has a share',
  'packages/wire/src/citation-check.ts': '200 characters',
  'src/agent/citations/': '100 characters',
  'src/agent/skills/': 'the operator’s own skills',
}

const CHECK_MS = 4_000
const AT_ONCE = 2

it('No regular expression takes longer than its text, unless that is bounded', {
  ...onlyLong,
  timeout: 600_000,
}, async () => {
  const waiting = regularExpressions(Object.keys(BOUNDED))
  expect(waiting.length).toBeGreaterThan(200)
  const slow: string[] = []
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { path, pattern, flags } = next
      const diagnostics = await check(pattern, flags.replace('v', 'u'), { timeout: CHECK_MS })
      if (isSlow(next, diagnostics)) slow.push(`${path}: /${pattern}/${flags}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(slow).toEqual([])
})
