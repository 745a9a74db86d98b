import { once } from 'node:events'
import { createChanges } from '../../src/embedded/changes.ts'
import { createLexicalIndex } from '../../src/embedded/lexical.ts'
import { createLexicalPart, openSnapshot } from '../../src/embedded/snapshot.ts'
import { batchOf } from '../contracts/chunk-index.fixture.ts'

/** No more than one segment is built of at once. */
const BATCH = 100

const [{ directory, firstKey }] = await once(process, 'message')
const notify = ({ message }: { message: string }) => {
  throw new Error(message)
}
const snapshot = await openSnapshot({ directory, fingerprint: 'test', notify })
const index = createLexicalIndex(snapshot.loaded)
const changes = createChanges([createLexicalPart(index, snapshot)], notify)

// Until somebody kills this process: adds, removes every tenth key, flushes, and reports how far it came.
for (let first = firstKey; ; first += BATCH) {
  const keys = Uint32Array.from({ length: BATCH }, (_, i) => first + i)
  const batch = batchOf(Array.from(keys, (key) => ['all', `only ${key}`]))
  void changes.apply(() => index.add(keys, batch, 0, BATCH))
  void changes.apply(() => index.remove([...keys].filter((key) => key % 10 === 0)))
  await changes.flush()
  process.send?.(first + BATCH)
}
