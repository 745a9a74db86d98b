import { once } from 'node:events'
import { createEmbeddedIndex } from '../../../src/indexes/embedded/embedded-index.ts'
import { batchOf } from '../../contracts/chunk-index.fixture.ts'

const BATCH = 300

const [{ directory, firstKey }] = await once(process, 'message')
const index = await createEmbeddedIndex({
  directory,
  fingerprint: 'test',
  onCrash: (error) => {
    throw error
  },
})

// Until somebody kills this process: adds, removes every tenth key, flushes, and says how far it came.
for (let first = firstKey; ; first += BATCH) {
  const keys = Uint32Array.from({ length: BATCH }, (_, i) => first + i)
  await index.add(keys, batchOf(Array.from(keys, (key) => ['all', `only ${key}`])), [])
  await index.remove([...keys].filter((key) => key % 10 === 0))
  await index.flush()
  process.send?.(first + BATCH)
}
