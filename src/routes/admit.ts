import type { FastifyRequest } from 'fastify'
import { announcedBytes } from '../http/announced-bytes.ts'
import type { Admission } from '../services/ingestion/admission.ts'

/** A smaller body is here with its headers: asking first would save nothing. */
const LARGE_BYTES = 65_536

/** A hook that refuses a large document before it is read, where the queue is full. */
export function admit({ admit: ask }: Admission) {
  return async ({ headers, params }: FastifyRequest): Promise<void> => {
    if (announcedBytes(headers) < LARGE_BYTES) return
    const { id } = Object(params)
    const key = headers['idempotency-key']
    await ask({ id, idempotencyKey: typeof key === 'string' ? key : undefined })
  }
}
