import { expect, it } from 'vitest'
import { createArtifactReader } from '../../../src/services/agent/describe-agent.ts'
import { createMemoryArtifactStore } from '../tools/memory-artifact-store.ts'

it('an artifact is read by its identifier, and nothing by another', async () => {
  const store = createMemoryArtifactStore()
  const read = createArtifactReader(store)
  const { id } = await store.add({
    ...{ name: 'a.txt', mediaType: 'text/plain' },
    bytes: Buffer.from('hello'),
  })
  const { name, mediaType, bytes } = await read(id)
  expect([name, mediaType, Buffer.from(bytes).toString()]).toEqual(['a.txt', 'text/plain', 'hello'])
  await expect(read('art_0')).rejects.toMatchObject({ code: 'artifact_not_found' })
})
