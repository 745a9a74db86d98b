import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ignore, logIgnored } from '@agent-server/lib/ignore.ts'
import { describe, expect, it } from 'vitest'

const RUN = promisify(execFile)
const IN_A_PROCESS = `
  import { ignore } from '@agent-server/lib/ignore.ts'
  await ignore(Promise.reject(new Error('failed')), 'not needed')`

describe('A promise whose failure is ignored', () => {
  it('resolves to its result', async () => {
    expect(await ignore(Promise.resolve('result'), 'not needed')).toBe('result')
  })

  it('resolves to undefined if it fails, which the log of the server says at debug', async () => {
    const lines: unknown[] = []
    logIgnored({ debug: (...line: unknown[]) => void lines.push(line) })
    const error = new Error('failed')
    expect(await ignore(Promise.reject(error), 'not needed')).toBeUndefined()
    expect(lines).toEqual([[{ err: error }, 'not needed']])
  })

  it.each([
    ['says so on stderr with NODE_DEBUG=agent-server', 'agent-server', /not needed: Error: failed/],
    ['is silent without NODE_DEBUG', '', /^$/],
  ])('in a process without a log %s', async (_case, debug, stderr) => {
    const run = RUN(process.execPath, ['--input-type=module', '-e', IN_A_PROCESS], {
      env: { ...process.env, NODE_DEBUG: debug },
      cwd: import.meta.dirname,
      timeout: 20_000,
    })
    expect((await run).stderr).toMatch(stderr)
  })
})
