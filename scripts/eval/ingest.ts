import { setTimeout as delay } from 'node:timers/promises'
import type { AgentServer } from '../../packages/client/src/agent-server.ts'
import type { Collection, Entry, EntryFile } from './collection.ts'

const REQUESTS_AT_ONCE = 16
/** Bounds the wait, since the server keeps retrying a broken embedding model forever. */
const MAX_STANDSTILL_MS = 120_000
const POLL_MS = 100

/** Sends a collection, and waits until it can be found. */
export async function ingestCollection(
  collection: Collection,
  client: AgentServer,
  progress: (done: string) => void,
) {
  const ids = await ingest(collection, client, progress)
  return { ids, failed: await settle(client, progress) }
}

/** Returns the collection's own ID for each ID that the server assigned. */
async function ingest(
  { documents: entries }: Collection,
  { documents }: AgentServer,
  progress: (done: string) => void,
) {
  const ids = new Map<string, string>()
  const send = async (entry: Entry | EntryFile) => {
    if ('path' in entry) return documents.upload(entry.path)
    const { title, text } = entry
    // For a document that consists only of a title, the title is the text.
    return documents.create(
      text.trim() === '' ? { text: title ?? '' } : { text, ...(title && { title }) },
    )
  }
  const all = (async function* () {
    yield* entries()
  })()
  const worker = async () => {
    for await (const entry of all) {
      const { id } = await send(entry)
      ids.set(id, entry._id)
      progress(`${ids.size} documents sent`)
    }
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker))
  return ids
}

/**
 * Waits until every document can be found, also by meaning if there is an embedder; returns how many failed. Throws if
 * nothing becomes ready for two minutes.
 */
async function settle({ admin }: AgentServer, progress: (done: string) => void): Promise<number> {
  const checkProgress = createStandstill()
  for (;;) {
    const { documents, embeddings } = await admin.readiness()
    const { pending = 0, processing = 0, failed = 0 } = documents ?? {}
    const waiting = pending + processing
    if (documents && waiting === 0 && (embeddings?.state ?? 'done') === 'done') return failed
    const { missing = 0, reason } = embeddings ?? {}
    progress(`${waiting} documents not ready yet, ${missing} passages not embedded`)
    checkProgress(`${waiting} ${missing}`, reason ?? `${waiting} documents are not ready`)
    await delay(POLL_MS)
  }
}

/** Returns a function to tell what is left; it throws `reason` if that has not changed for two minutes. */
function createStandstill() {
  let [last, since] = ['', performance.now()]
  return (progress: string, reason: string): void => {
    if (progress !== last) [last, since] = [progress, performance.now()]
    if (performance.now() - since < MAX_STANDSTILL_MS) return
    throw new Error(`Nothing has become ready for two minutes: ${reason}`)
  }
}
