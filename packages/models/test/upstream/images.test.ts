import { expect, it } from 'vitest'
import { startModel } from './model-for-test.ts'

const { signal } = new AbortController()

it.each([
  [['completion', 'vision'], true],
  [['completion', 'tools'], false],
  [undefined, true],
])('Ollama tells whether a model takes images: %j', async (capabilities, taken) => {
  const { upstream, model } = await startModel()
  const listed = { id: 'test-model', object: 'model', owned_by: 'library' }
  upstream.tell({
    '/v1/models': { object: 'list', data: [listed] },
    '/api/show': { capabilities },
    '/api/ps': {},
  })
  expect(model.supportsImages).toBe(true)
  await model.learnWindow(signal)
  expect(model.supportsImages).toBe(taken)
})
