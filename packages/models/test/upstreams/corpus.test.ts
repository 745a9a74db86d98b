import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Answer, startModel } from '../upstream/model-for-test.ts'
import type { Answered, Recorded } from './recorded.ts'

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
      const { requests: _requests, message, ...told } = expected
      const error = { ...told, message: expect.stringMatching(message) }
      await expect(answer).rejects.toMatchObject(error)
    } else {
      expect(readable(await answer)).toMatchObject(partOf(expected))
      expectFields(upstream.requests.at(-1)?.body, expected.sent)
    }
    expect(upstream.requests).toHaveLength(expected.requests ?? 1)
  })
})

/** An answer in the terms of what is expected of it. */
function readable({ text, reasoning, calls, finish }: Answer) {
  const called = calls.map((call) => [call.name, call.arguments])
  return { text, reasoning, calls: called, reason: finish?.reason, usage: finish?.usage }
}

function partOf({ text, reasoning, calls, reason, usage }: Answered): object {
  const all = Object.entries({ text, reasoning, calls, reason, usage })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

function expectFields(body: unknown, sent: Answered['sent'] = {}): void {
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
