import { describe, expect, it } from 'vitest'
import { FileBatch } from '../../src/files/batch-schema.ts'
import { createFileBatches } from '../../src/files/batches.ts'
import type { Records } from '../../src/services.ts'

/** A fake of the records that a server keeps. */
function inMemory(): Records {
  const kept = new Map<string, { bytes: Uint8Array }>()
  return {
    async add(record) {
      kept.set(record.id, record)
      return record
    },
    read: async (id) => kept.get(id),
  }
}

describe('A batch whose files are under way', () => {
  /** Stands for a store with two files, of which the second is not ready: a fake, since a real one soon would be. */
  function slowStore() {
    const inStore = new Map([
      ['ready', 'completed' as const],
      ['slow', 'in_progress' as const],
    ])
    const said = { created_at: 1, usage_bytes: 1, last_error: null, attributes: {} }
    const fileOf = (id: string, status: 'completed' | 'in_progress') => ({
      id,
      object: 'vector_store.file' as const,
      vector_store_id: 'vs_slow',
      status,
      ...said,
    })
    const files: Parameters<typeof createFileBatches>[0]['files'] = {
      file: async (id) => ({
        id,
        object: 'file',
        bytes: 1,
        created_at: 1,
        filename: id,
        purpose: 'assistants',
        status: 'processed',
      }),
      async findFile(_store, id) {
        const status = inStore.get(id)
        return status && fileOf(id, status)
      },
      attach: async (_store, { file_id }) => fileOf(file_id, 'in_progress'),
      detach: async (_store, id) => inStore.delete(id),
    }
    return createFileBatches({ files, records: inMemory(), owner: undefined })
  }

  it('is in progress; cancelled, it keeps what is ready', async () => {
    const batches = slowStore()
    const { signal } = new AbortController()
    const made = await batches.create('vs_slow', { file_ids: ['ready', 'slow'] }, signal)
    expect(FileBatch.parse(made)).toMatchObject({
      status: 'in_progress',
      file_counts: { in_progress: 1, completed: 1 },
    })
    expect(await batches.cancel('vs_slow', made.id, signal)).toMatchObject({
      status: 'cancelled',
      file_counts: { in_progress: 0, completed: 1, cancelled: 1 },
    })
  })
})
