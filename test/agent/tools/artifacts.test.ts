import { Refusal } from '@agent-server/lib/refusal.ts'
import { describe, expect, it } from 'vitest'
import { createArtifacts } from '../../../src/agent/tools/artifacts.ts'
import { createMemoryArtifactStore } from './memory-artifact-store.ts'

const FILE = { name: 'a.txt', mediaType: 'text/plain', bytes: Uint8Array.of(65) }

describe('the artifacts of a run', () => {
  it('are listed in the order in which they were made, each with its address', async () => {
    const artifacts = createArtifacts(createMemoryArtifactStore())
    await artifacts.add(FILE)
    await artifacts.add({ ...FILE, name: 'b.txt' })
    expect(artifacts.all()).toEqual([
      expect.objectContaining({ id: 'art_1', name: 'a.txt', size: 1, url: '/artifacts/art_1' }),
      expect.objectContaining({ id: 'art_2', name: 'b.txt', url: '/artifacts/art_2' }),
    ])
  })

  it('are limited to fifty, even when created concurrently', async () => {
    const artifacts = createArtifacts(createMemoryArtifactStore())
    const made = await Promise.allSettled(Array.from({ length: 60 }, () => artifacts.add(FILE)))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
    await expect(artifacts.add(FILE)).rejects.toThrow(Refusal)
  })

  it('are refused with a message for the model if they are too large', async () => {
    const artifacts = createArtifacts(createMemoryArtifactStore({ maximumBytes: 1 }))
    await expect(artifacts.add({ ...FILE, bytes: new Uint8Array(2) })).rejects.toThrow(Refusal)
    expect(artifacts.all()).toEqual([])
  })
})
