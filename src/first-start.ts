import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from './lib/files.ts'

const KEY_BYTES = 24

/**
 * Writes `.env` from the repository's `.env.example` with a new key, for somebody who has just cloned it.
 * Answers the key, or nothing where the environment or a `.env` is there already.
 */
export async function prepareFirstStart(
  directory: string,
  repository: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (environment.NODE_ENV === 'production' || environment.SERVER_API_KEY) return undefined
  const target = join(directory, '.env')
  if (await exists(target)) return undefined

  const example = await readFile(join(repository, '.env.example'), 'utf8')
  const key = randomBytes(KEY_BYTES).toString('base64url')
  const text = example.replace(/^SERVER_API_KEY=(?=\r?$)/m, `SERVER_API_KEY=${key}`)
  return (await writeNew(target, text)) ? key : undefined
}

/** Whoever wrote the file in the meantime keeps theirs. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** What to do next, to be pasted as it is. The key is shown this once. */
export function welcome(endpoint: string, key: string): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`
  const json = `-H 'Content-Type: application/json'`
  return `
  Agent Server runs at ${endpoint} and answers with quotes from your documents.
  Your key is ${key} (kept in .env, where a real model is set, too).

  1. Add a document, and wait until it can be found:

curl '${endpoint}/documents?wait=30' ${authorization} ${json} \\
  -d '{"title": "Opening hours", "text": "The library opens at nine on weekdays. On Saturdays it opens at ten."}'

  2. Find the passages that answer a question:

curl ${endpoint}/query ${authorization} ${json} \\
  -d '{"query": "When does the library open on Saturdays?"}'

  3. Get a cited answer, streamed:

curl -N ${endpoint}/chat ${authorization} ${json} \\
  -d '{"messages": [{"role": "user", "content": "When does the library open on Saturdays?"}]}'

  Everything else: ${endpoint}/reference

`
}
