import { type ChunkIndex, createEmbeddedIndex, type IndexSource } from '@agent-server/search'
import { createSource } from '../../packages/search/test/contracts/chunk-index.fixture.ts'
import { closeAfterUse } from './close-after-use.ts'
import { temporaryDirectory } from './temporary-files.ts'

/** An embedded index in a folder of its own, which is closed after the test. */
export async function openEmbeddedIndex(source: IndexSource = createSource()): Promise<ChunkIndex> {
  const index = createEmbeddedIndex({
    directory: await temporaryDirectory(),
    fingerprint: 'test',
    source,
    onCrash: (error) => {
      throw error
    },
  })
  closeAfterUse(() => index.close())
  return index
}
