import { type DocumentStore, queueFull } from '../../stores/document-store.ts'

interface Dependencies {
  store: Pick<DocumentStore, 'counts' | 'get' | 'hasKey'>
  /** The most documents that may wait for ingestion or be in it. */
  queueLimit: number
}

/** What is known of a request before its body is read. */
interface Arrival {
  /** Of a document that may be replaced. */
  id?: string | undefined
  idempotencyKey?: string | undefined
}

/**
 * Refuses what the queue has no room for before anybody has sent it. The document store asks again when it is there:
 * the queue may have filled up meanwhile.
 */
export interface Admission {
  /** Throws `queue_full`, unless the document waits already, or came before with the same key. */
  admit(arrival: Arrival): Promise<void>
}

export function createAdmission({ store, queueLimit }: Dependencies): Admission {
  return {
    async admit({ id, idempotencyKey }) {
      const { jobs } = await store.counts()
      if (jobs < queueLimit) return
      if (idempotencyKey !== undefined && (await store.hasKey(idempotencyKey))) return
      const { status } = (id !== undefined && (await store.get(id))) || {}
      if (status !== 'pending' && status !== 'processing') throw queueFull()
    },
  }
}
