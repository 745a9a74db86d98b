import { expect, it } from 'vitest'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { killWhileWorking } from './crash/kill.ts'
import {
  askUntilGone,
  createReplaced,
  expectReplaced,
  type Replaced,
  replaceUntilGone,
} from './crash/replace.ts'
import { createSeededRandom } from './crash/seeded-random.ts'

/** As in crash.test.ts. */
const CYCLES = Number(process.env.CRASH_CYCLES ?? 4)
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const CYCLE_MILLISECONDS = 60_000
const DOCUMENTS = 8

it(`${CYCLES} kills while ${DOCUMENTS} documents are replaced leave each found, whole, and as it was put last (CRASH_SEED=${SEED})`, {
  timeout: CYCLES * CYCLE_MILLISECONDS,
}, async () => {
  const random = createSeededRandom(SEED)
  const directory = await temporaryDirectory()
  const documents = Array.from({ length: DOCUMENTS }, (_, number) => createReplaced(number))
  let asked = 0

  for (let cycle = 1; cycle <= CYCLES; cycle += 1) {
    const server = await startServerProcess({}, { directory })
    for (const document of documents) await expectReplaced(server, document)
    const replacing = documents.map((document) => replaceUntilGone(server, document, random))
    const asking = documents.map((document) => askUntilGone(server, document))
    await killWhileWorking(server, random)
    await Promise.all(replacing)
    for (const count of await Promise.all(asking)) asked += count
    expect(server.stderr).toBe('')
  }

  const server = await startServerProcess({}, { directory })
  for (const document of documents) await expectReplaced(server, document)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  if (process.env.CRASH_CYCLES) process.stdout.write(`${tally(documents, asked)}\n`)
})

function tally(documents: readonly Replaced[], asked: number): string {
  const contents = documents.reduce((sum, document) => sum + document.contents.length, 0)
  return `contents put: ${contents}\nquestions asked meanwhile: ${asked}`
}
