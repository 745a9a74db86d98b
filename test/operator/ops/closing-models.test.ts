import { expect, it, onTestFinished } from 'vitest'
import { createClosingModels, type ServedModel } from '../../../src/operator/ops/closing-models.ts'

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

const served = (kind: ServedModel['kind'], closesOn: string | undefined): ServedModel => ({
  kind,
  model: `of ${kind}`,
  setting: `${kind.toUpperCase()}_MODEL`,
  closesOn: async () => closesOn,
})

it('logs one line at start for each model that is about to close, and none for others', async () => {
  const lines: unknown[] = []
  const log = { warn: (fields: unknown, message: unknown) => void lines.push([fields, message]) }
  const models = [
    served('chat', inDays(3)),
    served('embedding', inDays(99)),
    served('reranking', undefined),
  ]
  const closing = createClosingModels({ models, log })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  expect(closing.warnings()).toEqual([])
  void closing.run(stop.signal)
  await expect.poll(() => lines.length, { timeout: 5_000 }).toBe(1)
  expect(lines).toEqual([
    [
      { model: 'of chat', closesOn: inDays(3) },
      expect.stringMatching(
        /^The model of chat closes on .* \(in 3 days\): set CHAT_MODEL to another$/,
      ),
    ],
  ])
  expect(closing.warnings()).toHaveLength(1)
})

it('ends at once, whatever it waits for', async () => {
  const looking = Promise.withResolvers<void>()
  const never: ServedModel = {
    ...served('chat', undefined),
    closesOn(signal) {
      looking.resolve()
      return untilAborted(signal)
    },
  }
  const closing = createClosingModels({ models: [never], log: { warn: () => undefined } })
  const stop = new AbortController()
  const ended = closing.run(stop.signal)
  await looking.promise
  stop.abort()
  await ended
})

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
