import { execFile } from 'node:child_process'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { freeAllMemory, freeYoungMemory } from '@agent-server/lib/processes/free-memory.ts'
import { describe, expect, it } from 'vitest'
import { isLong, long } from '../../../../test/support/long.ts'

const MODULE = JSON.stringify(import.meta.resolve('@agent-server/lib/processes/free-memory.ts'))

/** What may be left of 20 MB that nobody holds. */
const LEFT_BYTES = 5_000_000

/** What a program prints, in JSON: in a process of its own, whose memory no other test fills meanwhile. */
async function printed<Name extends string>(program: string): Promise<Record<Name, number>> {
  const args = ['--input-type=module', '-e', program]
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout)
}

describe('Freeing what is young', () => {
  it('releases the memory of unreferenced buffers', async () => {
    const { wasted, left } = await printed<'wasted' | 'left'>(`
      import { freeYoungMemory } from ${MODULE}
      const held = () => process.memoryUsage().arrayBuffers
      freeYoungMemory()
      const before = held()
      for (let piece = 0; piece < 20; piece++) new Uint8Array(2 ** 20).fill(piece)
      const wasted = held() - before
      freeYoungMemory()
      // Counted off by a thread of V8, which may have to wait for a core. To look allocates, and must not itself collect.
      const pause = new Int32Array(new SharedArrayBuffer(4))
      for (let ms = 1; ms < 10_000 && held() - before > ${LEFT_BYTES}; ms *= 2) Atomics.wait(pause, 0, 0, ms)
      console.log(JSON.stringify({ wasted, left: held() - before }))`)
    expect(wasted).toBeGreaterThan(15_000_000)
    expect(left).toBeLessThanOrEqual(LEFT_BYTES)
  })

  it('keeps referenced memory', () => {
    const kept = new Uint8Array(2 ** 20).fill(7)
    freeYoungMemory()
    expect(kept.every((byte) => byte === 7)).toBe(true)
  })

  it('does not expose the garbage collector', () => {
    freeYoungMemory()
    expect(Object.hasOwn(globalThis, 'gc')).toBe(false)
  })
})

describe('Freeing all', () => {
  it('frees old objects that are no longer referenced', async () => {
    const held = [{}]
    const old = new WeakRef(held[0] ?? {})
    // What a reference was made to is held until the end of the turn.
    await nextTurn()
    freeYoungMemory()
    freeYoungMemory()
    held.length = 0
    freeAllMemory()
    expect(old.deref()).toBeUndefined()
  })
})

describe('A thread that has nothing more to do', () => {
  it('releases what its work has left, and only then, while another works', async () => {
    const { grown, left } = await printed<'grown' | 'left'>(`
      import { freeMemoryWhenIdle } from ${MODULE}
      import { getHeapStatistics } from 'node:v8'
      import { Worker } from 'node:worker_threads'
      const size = () => getHeapStatistics().total_physical_size
      let held = []
      for (let at = 0; at < 2e6; at++) {
        held.push({ at })
        if (held.length > 100_000) held = []
      }
      freeMemoryWhenIdle(100)
      const other = new Worker('for (;;) {}', { eval: true })
      const busy = Date.now() + 300
      while (Date.now() < busy) await new Promise(setImmediate)
      const grown = size()
      for (let wait = 0; wait < 100 && size() > grown / 2; wait++) await new Promise((go) => setTimeout(go, 50))
      console.log(JSON.stringify({ grown, left: size() }))
      await other.terminate()`)
    expect(grown).toBeGreaterThan(20_000_000)
    expect(left).toBeLessThan(grown / 2)
  })
})

describe('A thread', () => {
  it(
    'finds the collector though others look for it at the same moment, and none fails',
    long,
    async () => {
      const program = `
      import { parentPort } from 'node:worker_threads'
      import { freeAllMemory } from ${MODULE}
      for (let time = 0; time < ${isLong ? 50 : 10}; time++) freeAllMemory()
      parentPort?.postMessage('done')
    `
      const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`)
      const threads = Array.from({ length: 4 }, () => new Worker(url))
      const done = threads.map(
        (thread) =>
          new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject)),
      )
      expect(await Promise.all(done)).toEqual(['done', 'done', 'done', 'done'])
      await Promise.all(threads.map((thread) => thread.terminate()))
    },
  )
})
