import { untilAborted } from '@agent-server/lib/abort.ts'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { SharedStore } from '../../../packages/stores/src/opened-store.ts'
import { addReady } from '../../contracts/vector-replacement.contract.ts'
import { createPostgresData, hasPostgres, type PostgresData } from './store-data.ts'

const NEXT = { model: 'new', dimension: 3 }

describe.skipIf(!hasPostgres)('Vectors made anew in a database (needs PostgreSQL)', () => {
  let data: PostgresData
  let store: SharedStore
  let key: number
  beforeEach(async () => {
    data = await createPostgresData()
    store = await data.open()
    key = await addReady(store, 'a')
    return async () => {
      await store.close()
      await data.remove()
    }
  })

  it('leave a server that still makes the old ones no place for them', async () => {
    await store.replacement.begin(NEXT)
    await store.replacement.add({
      keys: Uint32Array.of(key),
      dimension: 3,
      values: Float32Array.of(0, 0, 1),
    })
    await store.replacement.finish()
    await expect(addReady(store, 'late')).rejects.toThrow(/are incompatible with/)
    expect(await store.countWithoutVector('late')).toBe(1)
  })

  describe('by one of several servers', () => {
    const never = new AbortController().signal
    const openOther = async () => {
      const other = await data.open()
      onTestFinished(other.close)
      return other
    }

    it('are made by nobody else meanwhile, and by anybody after that', async () => {
      const other = await openOther()
      const done: string[] = []
      const took = await store.replacement.exclusively(async () => {
        expect(
          await other.replacement.exclusively(async () => void done.push('other'), never),
        ).toBe(false)
        done.push('first')
      }, never)
      expect(took).toBe(true)
      expect(await other.replacement.exclusively(async () => void done.push('next'), never)).toBe(
        true,
      )
      expect(done).toEqual(['first', 'next'])
    })

    it('are given up by one that can no longer keep others out', async () => {
      const lost = store.replacement.exclusively(async (signal) => {
        await data.sql(`SELECT pg_terminate_backend(pid) FROM pg_locks
          WHERE locktype = 'advisory' AND objid = 6 AND pid <> pg_backend_pid()`)
        await untilAborted(new Promise(() => undefined), signal)
      }, never)
      await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' })
      expect(await store.replacement.exclusively(async () => undefined, never)).toBe(true)
    })

    it('leave the lock to others when they fail', async () => {
      const failing = store.replacement.exclusively(() => Promise.reject(new Error('no')), never)
      await expect(failing).rejects.toThrow('no')
      expect(await (await openOther()).replacement.exclusively(async () => undefined, never)).toBe(
        true,
      )
    })
  })
})
