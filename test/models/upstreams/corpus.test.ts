import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startModel } from '../upstream/model-for-test.ts'
import type { Recorded } from './recorded.ts'

const FOLDER = new URL('.', import.meta.url)
const files = readdirSync(FOLDER).filter((name) => /^(?!corpus|recorded).*\.ts$/.test(name))
const servers = await Promise.all(
  files.map(async (file): Promise<[string, readonly Recorded[]]> => {
    const { RECORDED } = await import(new URL(file, FOLDER).href)
    return [file.replace('.ts', ''), RECORDED]
  }),
)

describe.each(servers)('What %s says', (_server, recorded) => {
  it.each(recorded.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
    const { upstream, ask } = await startModel({ api: each.auto ? 'auto' : each.api })
    const last = each.replies.at(-1)
    upstream.script(...each.replies.slice(0, -1))
    if (last) upstream.always(last)
    const { expected } = each
    if ('code' in expected) {
      const { code, message } = expected
      const failure = { code, message: expect.stringMatching(message) }
      await expect(ask(each.request)).rejects.toMatchObject(failure)
    } else {
      const { text, reason, usage } = expected
      const answer = await ask(each.request)
      const called = answer.calls.map((call) => [call.name, call.arguments])
      const got = { ...answer, calls: called, ...answer.finish }
      const all = { text, calls: expected.calls, reason, usage }
      expect(got).toMatchObject(
        Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
      )
      expectSent(upstream.requests.at(-1)?.body, expected.sent ?? {})
    }
    expect(upstream.requests).toHaveLength(expected.requests ?? 1)
  })
})

function expectSent(body: unknown, sent: Record<string, unknown>): void {
  for (const [path, value] of Object.entries(sent)) {
    if (value === undefined) expect(body).not.toHaveProperty(path)
    else expect(body).toHaveProperty(path, value)
  }
}

it('Each shape has a source, and no two have one name', () => {
  const all = servers.flatMap(([, recorded]) => recorded)
  expect(all.filter(({ source }) => source.length < 8)).toEqual([])
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
})
