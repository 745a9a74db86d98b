import { describe, expect, it } from 'vitest'
import { acceptsJsonOnly } from '../../src/http/event-stream.ts'

describe('A client that leaves open whether it wants a stream', () => {
  it.each(['application/json', 'Application/JSON; charset=utf-8', 'text/plain, application/json'])(
    'is taken to want none where it accepts %s',
    (accept) => expect(acceptsJsonOnly({ accept })).toBe(true),
  )

  it.each([
    undefined,
    '',
    '*/*',
    'text/event-stream',
    'application/json, text/event-stream',
    'application/json, text/plain, */*',
    'application/jsonlines',
  ])('is taken to want one where it accepts %s', (accept) =>
    expect(acceptsJsonOnly({ accept })).toBe(false),
  )
})
