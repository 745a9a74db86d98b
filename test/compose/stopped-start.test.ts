import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { long, someOf } from '../support/long.ts'
import { startServer } from '../support/server.ts'

const TURNS = [0, 4, 16, 64, 1, 2, 8, 12, 24, 32, 48, 96, 128]

it.each(someOf(TURNS, 4))(
  'A start that is stopped after %i turns of the event loop ends without an error',
  long,
  async (turns) => {
    const server = await startServer({}, { begin: false })
    const begun = server.begin()
    for (let count = 0; count < turns; count += 1) await turn()
    const closed = server.close()
    await expect(begun).resolves.toBeUndefined()
    await closed
  },
)
