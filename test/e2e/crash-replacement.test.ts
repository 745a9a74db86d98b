import { expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { isLong, onlyLong } from '../support/long.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
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
import { createSeededRandom, type SeededRandom } from './crash/seeded-random.ts'

/** As in crash.test.ts. */
const CYCLES = Number(process.env.CRASH_CYCLES ?? (isLong ? 4 : 1))
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const CYCLE_MS = 60_000
/** Of the requests to the embedder while documents are replaced. */
const FAILED_SHARE = 0.3

const WAYS: [string, number][] = [
  // As many as fit one answer together.
  ['with an embedder that comes and goes', 4],
  ['by words', 8],
]

it.each(WAYS)(
  `${CYCLES} kills while documents are replaced by texts and files leave each found, whole, and as it was put last: %s (CRASH_SEED=${SEED})`,
  { ...onlyLong, ...verifies('documents.put.swap', 'files.crash'), timeout: CYCLES * CYCLE_MS },
  async (how, count) => {
    const random = createSeededRandom(SEED)
    const embedder = how === 'by words' ? undefined : await openEmbedder(random)
    const environment = embedder?.environment ?? {}
    const directory = await temporaryDirectory()
    const documents = Array.from({ length: count }, (_, number) => createReplaced(number))
    let asked = 0

    for (let cycle = 1; cycle <= CYCLES; cycle += 1) {
      const server = await startServerProcess(environment, { directory })
      for (const document of documents) await expectReplaced(server, document)
      embedder?.fail(true)
      const replacing = documents.map((document) => replaceUntilGone(server, document, random))
      const asking = documents.map((document) => askUntilGone(server, document))
      await killWhileWorking(server, random)
      await Promise.all(replacing)
      for (const count of await Promise.all(asking)) asked += count
      embedder?.fail(false)
      expect(server.stderr).toBe('')
    }

    const server = await startServerProcess(environment, { directory })
    for (const document of documents) await expectReplaced(server, document)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    if (process.env.CRASH_CYCLES) process.stdout.write(`${tally(documents, asked)}\n`)
  },
)

/** An embedder of which some requests break, for as long as it is told to fail. */
async function openEmbedder(random: SeededRandom) {
  const embedder = await startScriptedEmbedder()
  let isFailing = false
  embedder.reply = () =>
    isFailing && random.chance(FAILED_SHARE) ? { status: 503, body: 'away' } : undefined
  return {
    environment: {
      EMBEDDING_MODEL: 'model-a',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'any',
    },
    fail(failing: boolean) {
      isFailing = failing
    },
  }
}

function tally(documents: readonly Replaced[], asked: number): string {
  const contents = documents.reduce((sum, document) => sum + document.contents.length, 0)
  return `contents put: ${contents}\nquestions asked meanwhile: ${asked}`
}
