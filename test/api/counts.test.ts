import { expect, it } from 'vitest'
import { acceptedOf, COUNTED } from '../support/counts.ts'
import { long, someOf } from '../support/long.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()

it.each(someOf(COUNTED, 1))(
  'Of sixty requests at once, no more are accepted than there is room for: $what',
  // What is full stays full.
  { ...long, timeout: 120_000, retry: 0 },
  async (counted) => {
    const { most, refusal } = counted
    expect(await acceptedOf([server], counted)).toEqual({ accepted: most, refused: [refusal] })
  },
)
