import type { ModelMessage } from '@agent-server/models'
import { expect, it } from 'vitest'
import { makeRoom, type ShownImage, showImages } from '../../../src/agent/tools/shown-images.ts'

const images = (count: number, letters = 4): ShownImage[] =>
  Array.from({ length: count }, (_, index) => ({ url: `${index}`.repeat(letters) }))

it.each([
  ['number', 1, [2, 2]],
  ['size', 450_000, [1, 2]],
])(
  'A run that waits keeps the newest images of its conversation and results, of a bounded %s',
  (_case, letters, kept) => {
    const added: ModelMessage[] = []
    showImages(added, [
      { tool: 'one', images: images(2, letters) },
      { tool: 'two', images: images(1, letters) },
    ])
    const rest = makeRoom(added, images(2, letters))
    const [message] = added
    if (message?.role !== 'user') throw new Error('No images were added')
    expect([message.images?.length ?? 0, rest.length]).toEqual(kept)
    const dropped = message.content.split('not shown any more').length - 1
    expect(dropped).toBe(3 - (message.images?.length ?? 0))
  },
)
