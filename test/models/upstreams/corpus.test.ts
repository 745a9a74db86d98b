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
    const answer = ask(each.request)
    const { expected } = each
    if ('code' in expected) {
      const { code, message } = expected
      await expect(answer).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    } else {
      const { text, calls, finish } = await answer
      if (expected.text !== undefined) expect(text).toBe(expected.text)
      const called = calls.map((call) => [call.name, call.arguments])
      if (expected.calls !== undefined) expect(called).toEqual(expected.calls)
      if (expected.reason !== undefined) expect(finish?.reason).toBe(expected.reason)
      if (expected.usage !== undefined) expect(finish?.usage).toEqual(expected.usage)
      const body = upstream.requests.at(-1)?.body
      for (const [path, value] of Object.entries(expected.sent ?? {})) {
        if (value === undefined) expect(body).not.toHaveProperty(path)
        else expect(body).toHaveProperty(path, value)
      }
    }
    expect(upstream.requests).toHaveLength(expected.requests ?? 1)
  })
})

it('Each shape has a source, and no two have one name', () => {
  const all = servers.flatMap(([, recorded]) => recorded)
  expect(all.filter(({ source }) => source.length < 8)).toEqual([])
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
})
