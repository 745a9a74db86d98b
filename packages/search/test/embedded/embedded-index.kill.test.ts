import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { isLong, onlyLong } from '../../../../test/support/long.ts'
import { createRandom } from '../../../../test/support/random.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { createEmbeddedIndex } from '../../src/embedded/embedded-index.ts'
import { createSource, keysFor } from '../contracts/chunk-index.fixture.ts'

const KILLS = isLong ? 6 : 3
const MAX_LIFE_MS = 150

describe('The embedded index after kill -9', () => {
  it(
    'holds every flushed key with its content, no damaged file and no leftover',
    onlyLong,
    async () => {
      const random = createRandom(9)
      const directory = await temporaryDirectory()
      let flushed = 1
      for (let kill = 0; kill < KILLS; kill++) {
        flushed = await flushUntilKilled(directory, flushed, random.below(MAX_LIFE_MS))
        const warnings: string[] = []
        const index = createEmbeddedIndex({
          directory,
          fingerprint: 'test',
          source: createSource(),
          log: { warn: (_fields, message) => warnings.push(message) },
          onCrash: (error) => {
            throw error
          },
        })
        expect(warnings).toEqual([])
        const keys = await index.keys()
        const held = new Set(keys)
        const lost = range(1, flushed).filter((key) => key % 10 !== 0 && !held.has(key))
        expect(lost).toEqual([])
        expect(held.size).toBe(keys.length)
        for (let i = 0; i < 20; i++) {
          const key = keys[random.below(keys.length)] ?? 0
          expect(await keysFor(index, [`only ${key}`])).toEqual([key])
        }
        expect(await keysFor(index, ['all'], keys.length + 1)).toHaveLength(keys.length)
        await index.close()
      }
    },
  )
})

/** Answers the key below which everything was flushed, as far as the process could tell. */
async function flushUntilKilled(
  directory: string,
  firstKey: number,
  life: number,
): Promise<number> {
  const child = fork(new URL('./flushing-process.ts', import.meta.url))
  let flushed = firstKey
  child.on('message', (key) => {
    flushed = Number(key)
  })
  child.send({ directory, firstKey })
  await once(child, 'message')
  // The moment of death is the point of the test, so that it is left to the clock.
  await setTimeout(life)
  child.kill('SIGKILL')
  await once(child, 'exit')
  return flushed
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}
