import { compareKeys } from '@agent-server/lib/compare-keys.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore, IngestionJob } from '@agent-server/stores'
import {
  createNextIndex,
  createQdrantIndex,
  type QdrantIndexOptions,
} from '../../../packages/index-qdrant/src/qdrant-index.ts'
import { batchOf } from '../../../packages/search/test/contracts/chunk-index.fixture.ts'
import { addVectors } from '../../../src/documents/embedding/backlog.ts'
import { createPublisher } from '../../../src/documents/ingestion/publish.ts'
import { replaceIndex } from '../../../src/documents/ingestion/replace-index.ts'
import { silent } from './ingestion-parts.ts'
import { seededRandom } from './random-text.ts'

const WRITERS = 2
const DOCUMENTS_EACH = 2
const DIMENSION = 2
const EMBEDDING = { model: 'fake', dimension: DIMENSION }

interface Task {
  options: QdrantIndexOptions
  /** One for each server, and one for the command that replaces the index. */
  stores: readonly [DocumentStore, DocumentStore, DocumentStore]
  seed: number
}

/** One step in so many another actor is given the lead, so that one may end while others stand still. */
const STEPS_IN_A_ROW = 8

/** Lets one actor at a time take one step, in an order that the seed decides. */
function createSchedule(seed: number, actors: number) {
  const random = seededRandom(seed)
  const waiting = new Map<number, () => void>()
  let running = actors
  let leader = random(actors)
  const next = () => {
    if (running > 0) return
    if (random(STEPS_IN_A_ROW) === 0 || !waiting.has(leader)) leader = random(actors)
    const chosen = waiting.has(leader) ? leader : [...waiting.keys()][random(waiting.size)]
    const go = chosen === undefined ? undefined : waiting.get(chosen)
    if (chosen === undefined || !go) return
    waiting.delete(chosen)
    running++
    go()
  }
  const pause = () => {
    running--
    queueMicrotask(next)
  }
  return {
    ended: pause,
    /** Makes functions of an actor wait for its turn before each call. */
    stepsOf:
      (actor: number) =>
      <Input extends unknown[], Output>(work: (...input: Input) => Promise<Output>) =>
      async (...input: Input) => {
        const turn = Promise.withResolvers<void>()
        waiting.set(actor, turn.resolve)
        pause()
        await turn.promise
        return work(...input)
      },
  }
}

/**
 * Two servers publish documents with vectors while the index in Qdrant is replaced, every step of the three in an order
 * that the seed decides. Answers the keys that the document store has and the index that serves then lacks.
 */
export async function replaceWhilePublishing({ options, stores, seed }: Task): Promise<number[]> {
  const { stepsOf, ended } = createSchedule(seed, WRITERS + 1)
  const [store] = stores
  const work = Array.from({ length: WRITERS }, (_, writer) => {
    return publishAll({
      options,
      store: stores[writer] ?? store,
      seed,
      writer,
      step: stepsOf(writer),
    })
  })
  const all = [
    ...work,
    replace({ options, store: stores[WRITERS] ?? store, step: stepsOf(WRITERS) }),
  ]
  await Promise.all(all.map((each) => each.finally(ended)))
  const served = createQdrantIndex(options)
  await served.open()
  return [
    ...compareKeys(await served.keys(), await store.chunkKeys()).missing,
    ...compareKeys(await served.vectorKeys(), await store.vectorKeys()).missing,
  ]
}

type Step = ReturnType<ReturnType<typeof createSchedule>['stepsOf']>

async function publishAll(task: {
  options: QdrantIndexOptions
  store: DocumentStore
  seed: number
  writer: number
  step: Step
}): Promise<void> {
  const { store, step } = task
  const index = createQdrantIndex(task.options)
  await index.open()
  const published: number[] = []
  const publisher = createPublisher({
    store: {
      ...store,
      reserveChunkKeys: step(store.reserveChunkKeys),
      completeJob: step(store.completeJob),
    },
    index: { ...index, add: step(index.add) },
    onPublished: (keys) => void published.push(...keys),
    log: silent,
  })
  const vectors = {
    store: { ...store, addVectors: step(store.addVectors) },
    index: { ...index, addVectors: step(index.addVectors) },
    embedding: { documents: async () => ({ ...EMBEDDING, values: Float32Array.of(1, 0) }) },
  }
  const { signal } = new AbortController()
  for (let document = 0; document < DOCUMENTS_EACH; document++) {
    const id = `s${task.seed}-w${task.writer}-d${document}`
    await store.add({ id, text: id })
    const [job] = await store.claimJobs(1)
    if (job) await publisher.publish(job, segmentOf(job), 1, signal)
    const { chunks } = await store.readChunks(everything(), published.splice(0))
    await addVectors(vectors, chunks, signal)
  }
}

async function* segmentOf({ text }: IngestionJob) {
  const chunks = [{ text, heading: '', start: 0, end: text.length }]
  yield { chunks, terms: batchOf([[text]]), text }
}

async function replace(task: { options: QdrantIndexOptions; store: DocumentStore; step: Step }) {
  const { store, step } = task
  const { options } = task
  const next = await createNextIndex(options)
  await next.index.open()
  const serve = async () => {
    await next.serve()
    const served = createQdrantIndex(options)
    await served.open()
    return served
  }
  await replaceIndex(
    {
      store: {
        ...store,
        chunkKeys: step(store.chunkKeys),
        vectorKeys: step(store.vectorKeys),
        retireChunkKeys: step(store.retireChunkKeys),
      },
      preparer: { analyse: async (chunks) => batchOf(chunks.map(({ text }) => [text])) },
      hybrid: true,
      progress: () => undefined,
      log: silent,
      next: next.index,
      serve: step(serve),
      drop: step(next.drop),
    },
    new AbortController().signal,
  )
}
