import { expect, vi } from 'vitest'
import { readMetrics } from '../../support/metrics.ts'
import type { TestServer } from '../../support/server.ts'
import type { PostgresData } from './store-data.ts'

/** Twice a lease, and some work. */
export const SETTLING_MS = 120_000

/** Until no document waits or is in work. */
export async function waitUntilIdle(server: TestServer): Promise<void> {
  const look = async () => {
    const metrics = await readMetrics(server)
    const metric = (status: string) => metrics.get(`agent_server_documents{status="${status}"}`)
    expect([metric('pending'), metric('processing')]).toEqual([0, 0])
  }
  await vi.waitFor(look, { timeout: SETTLING_MS, interval: 500 })
}

/** Each document has the chunks that it tells of, each of them once, and no job is left. */
export async function expectEachOnce({ sql }: Pick<PostgresData, 'sql'>): Promise<void> {
  const twice = await sql(`SELECT id FROM agent_server.documents
    LEFT JOIN agent_server.chunks ON document = number GROUP BY number
    HAVING count(key) <> chunk_count OR count(DISTINCT ordinal) <> chunk_count`)
  expect(twice).toEqual([])
  expect(await sql('SELECT * FROM agent_server.jobs')).toEqual([])
}
