// @module-tag long
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  defaults,
  type Launched,
  launch,
  type ServerProcess,
  startServerProcess,
} from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { createExpectedDocuments } from './crash/expected-documents.ts'
import {
  hasHalfSnapshot,
  killWhileStarting,
  killWhileStopping,
  killWhileWorking,
} from './crash/kill.ts'
import { createSeededRandom } from './crash/seeded-random.ts'
import { expectKept, expectOnDisk, expectSettled } from './crash/verify.ts'
import { populate, workALittle, workUntilGone } from './crash/work.ts'

/** `CRASH_CYCLES=50 CRASH_DOCUMENTS=500` is the long run; `CRASH_SEED` repeats one. */
const CYCLES = Number(process.env.CRASH_CYCLES ?? 1)
const DOCUMENTS = Number(process.env.CRASH_DOCUMENTS ?? 10)
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const CYCLE_MS = 60_000
/** Every so many cycles the queue is worked off before the next kill. */
const SETTLED_EVERY = 10

it(`${CYCLES} kills while ${DOCUMENTS} documents come and go lose none and double none (CRASH_SEED=${SEED})`, {
  timeout: CYCLES * CYCLE_MS,
}, async () => {
  const random = createSeededRandom(SEED)
  const expected = createExpectedDocuments(random)
  const directory = await temporaryDirectory()
  const data = join(directory, 'data')
  const tally = createTally()
  let server = await startServerProcess({}, { directory })
  await populate({ server, expected, documents: DOCUMENTS })

  for (let cycle = 1; cycle <= CYCLES; cycle += 1) {
    const work = workUntilGone({ server, expected, random, documents: DOCUMENTS })
    if (random.chance(0.5)) await killWhileStopping(server, data, random)
    else await killWhileWorking(server, random)
    await work
    await tally.kill('at work', server, data)
    if (random.chance(0.3)) {
      const starting = launch({ directory, environment: defaults() })
      await killWhileStarting(starting, data, random)
      await tally.kill('starting', starting, data)
    }

    server = await startServerProcess({}, { directory })
    tally.start(server)
    await expectKept(server, expected, cycle)
    if (cycle % SETTLED_EVERY === 0) await expectSettled(server, expected)
  }

  await workALittle({ server, expected, random })
  await expectSettled(server, expected)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  await expectOnDisk(data, expected)
  tally.count('documents ever added', expected.entries.length)
  tally.count('documents at the end', expected.in('kept').length)
  if (process.env.CRASH_CYCLES) process.stdout.write(`${tally.text()}\n`)
})

/** What the kills have met, to see that they met what they are for. */
function createTally() {
  const counts = new Map<string, number>()
  const count = (what: string, more = 1) => counts.set(what, (counts.get(what) ?? 0) + more)
  const sumOf = (server: ServerProcess, message: string, field: string) =>
    server
      .log()
      .filter(({ msg }) => msg === message)
      .reduce((sum, line) => sum + Number(line[field]), 0)

  return {
    count,
    async kill(when: string, server: Launched, data: string) {
      const { signal } = await server.exited
      count(signal === 'SIGKILL' ? `killed ${when}` : 'stopped before the kill')
      if (await hasHalfSnapshot(data)) count(`killed ${when}, its index half written`)
      if (server.stderr !== '') throw new Error(`On standard error: ${server.stderr}`)
    },
    start(server: ServerProcess) {
      const recovered = sumOf(server, 'resuming interrupted ingestion', 'documents')
      count('documents interrupted', recovered)
      const lacked = 'search index lacks chunks or vectors; adding them'
      count('chunks indexed again', sumOf(server, lacked, 'chunks'))
      count(
        'chunks dropped',
        sumOf(server, 'removed unknown chunks from the search index', 'chunks'),
      )
      count('milliseconds to ready', Math.round(server.startMs))
    },
    text: () => Array.from(counts, ([what, number]) => `${what}: ${number}`).join('\n'),
  }
}
