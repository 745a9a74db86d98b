import { afterAll, expect, it } from 'vitest'
import { createBuiltinEmbedder } from '../../../src/models/builtin/embedder.ts'
import { describeEmbedder } from '../../contracts/embedder.contract.ts'

const signal = new AbortController().signal
const embedder = createBuiltinEmbedder()
afterAll(() => embedder.close?.())

describeEmbedder('The built-in model', { create: async () => embedder })

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined) =>
  a?.reduce((sum, value, i) => sum + value * (b?.[i] ?? 0), 0) ?? 0

it('finds what is said in other words', async () => {
  const [car, doctor] = await embedder.embedDocuments(
    ['A car needs fuel and four wheels.', 'The physician sees patients in the morning.'],
    signal,
  )
  const question = await embedder.embedQuery('When can I meet a doctor?', signal)
  expect(cosine(question, doctor)).toBeGreaterThan(cosine(question, car) + 0.2)
})

it('reads a text to its end, beyond its window', async () => {
  const filler = 'The meeting was opened, and minutes were read. '.repeat(30)
  const [without, withOwls] = await embedder.embedDocuments(
    [filler, `${filler} ${'Owls hunt at night. '.repeat(30)}`],
    signal,
  )
  const question = await embedder.embedQuery('birds of prey', signal)
  expect(cosine(question, withOwls)).toBeGreaterThan(cosine(question, without) + 0.1)
})

it('is started anew after it was ended, as when it had nothing to do', async () => {
  const ending = createBuiltinEmbedder({ idleMs: { questions: 0, documents: 0 } })
  const [first, second] = [
    await ending.embedQuery('owls', signal),
    await ending.embedQuery('owls', signal),
  ]
  expect(cosine(first, second)).toBeCloseTo(1, 4)
  ending.close?.()
})
