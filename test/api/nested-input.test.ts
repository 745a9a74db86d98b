import { describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { long, someOf } from '../support/long.ts'
import { processorMs } from '../support/processor-time.ts'
import { startServer } from '../support/server.ts'

const MEGABYTES = 9_800_000

const server = await startServer()

/** Sends a body; answers what the server said, and what it cost this process, of which the server is a part. */
async function cost(path: string, body: string) {
  const started = processorMs()
  const failure = await failureOf(await server.request(path, { body }))
  return { failure, milliseconds: processorMs() - started }
}

const within = (field: string) => `{"query":"owls","x":${field}}`
const fields = (count: number) =>
  `{${Array.from({ length: count }, (_, n) => `"${n}":1`).join(',')}}`

describe('JSON of which there is too much', () => {
  it.each(
    someOf(
      [
        [
          'levels',
          within('['.repeat(MEGABYTES / 2) + ']'.repeat(MEGABYTES / 2)),
          'nested deeper than 100 levels',
        ],
        [
          'levels that end',
          within(`${'['.repeat(101)}${']'.repeat(101)}`),
          'deeper than 100 levels',
        ],
        ['levels of objects', within('{"a":'.repeat(MEGABYTES / 5)), 'deeper than 100 levels'],
        ['values', within(`[${'1,'.repeat(MEGABYTES / 2)}1]`), 'more than 100000 values'],
        ['lists', within(`[${'[],'.repeat(MEGABYTES / 3)}1]`), 'more than 100000 values'],
        ['fields', fields(500_000), 'an object of more than 5000 fields'],
      ],
      2,
    ),
  )('is refused before it is parsed: %s', long, async (_what, body, message) => {
    const { failure, milliseconds } = await cost('/query', body)
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(failure.message).toContain(message)
    expect(milliseconds).toBeLessThan(300)
  })

  it('is not even looked at where there is no route', async () => {
    const { failure } = await cost('/unknown', '['.repeat(MEGABYTES))
    expect(failure.code).toBe('route_not_found')
    expect((await cost('/unknown', '{"a')).failure.code).toBe('route_not_found')
    expect((await cost('/health', '{"a')).failure.code).toBe('method_not_allowed')
  })

  it('is refused line by line', async () => {
    const lines = `{"text":"Owls.","x":${'['.repeat(101)}}\n{"text":"Herons."}\n`
    const response = await server.request('/documents/batch', {
      body: lines,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    const [first, second] = (await response.text()).trim().split('\n')
    expect(JSON.parse(first ?? '')).toMatchObject({
      error: { message: 'The line must not be nested deeper than 100 levels' },
    })
    expect(JSON.parse(second ?? '')).toMatchObject({ status: 'pending' })
  })
})

describe('JSON of which there is just enough', () => {
  it.each([
    ['levels', within(`${'['.repeat(99)}${']'.repeat(99)}`)],
    ['fields', within(fields(5_000))],
    ['marks in a text', within(JSON.stringify(`\\"${'[{,'.repeat(200_000)}\\`))],
  ])('is taken: %s', async (_what, body) => {
    expect((await server.request('/query', { body })).status).toBe(200)
  })
})
