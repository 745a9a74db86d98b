import type { ChatModel, ModelEvent, ModelRequest } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { eachEvent } from '../support/batches.ts'

export interface ChatModelCase {
  /** A model that has a short answer of at least two deltas ready for `request`. */
  create(): Promise<{ model: ChatModel; request: ModelRequest }>
}

/** What the agent loop relies on, whichever model is behind it. */
export function describeChatModel(name: string, { create }: ChatModelCase): void {
  describe(`${name} as a chat model`, () => {
    it('ends with exactly one finish, after every other event', async () => {
      const { model, request } = await create()
      const events = await Array.fromAsync(eachEvent(model.stream(request, unaborted())))
      expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1)
      expect(events.at(-1)?.type).toBe('finish')
    })

    it('streams its text in several deltas, none of them empty', async () => {
      const { model, request } = await create()
      const texts = textsOf(await Array.fromAsync(eachEvent(model.stream(request, unaborted()))))
      expect(texts.length).toBeGreaterThan(1)
      expect(texts.every((text) => text.length > 0)).toBe(true)
    })

    it('answers a second request like the first', async () => {
      const { model, request } = await create()
      const first = await Array.fromAsync(eachEvent(model.stream(request, unaborted())))
      const second = await Array.fromAsync(eachEvent(model.stream(request, unaborted())))
      expect(textsOf(second).join('')).toBe(textsOf(first).join(''))
    })

    it('reports whole, non-negative token counts when it reports usage', async () => {
      const { model, request } = await create()
      const events = await Array.fromAsync(eachEvent(model.stream(request, unaborted())))
      const usage = events.flatMap((event) => (event.type === 'finish' ? [event.usage] : []))[0]
      for (const count of Object.values(usage ?? {})) {
        expect(Number.isInteger(count) && count >= 0).toBe(true)
      }
    })

    it('throws the reason of a signal that was aborted before the start, without an event', async () => {
      const { model, request } = await create()
      const reason = new Error('left before the start')
      const events = eachEvent(model.stream(request, AbortSignal.abort(reason)))
      await expect(events.next()).rejects.toBe(reason)
    })

    it('throws the reason of a signal that is aborted between two deltas', async () => {
      const { model, request } = await create()
      const controller = new AbortController()
      const reason = new Error('left in the middle')
      const events = eachEvent(model.stream(request, controller.signal))
      expect((await events.next()).value?.type).toBe('text-delta')
      controller.abort(reason)
      await expect(Array.fromAsync(events)).rejects.toBe(reason)
    })

    it('stops quietly when its reader stops early', async () => {
      const { model, request } = await create()
      for await (const event of eachEvent(model.stream(request, unaborted()))) {
        expect(event.type).toBe('text-delta')
        break
      }
    })

    it('leaves the request as it was', async () => {
      const { model, request } = await create()
      const before = structuredClone(request)
      await Array.fromAsync(eachEvent(model.stream(request, unaborted())))
      expect(request).toEqual(before)
    })
  })
}

function unaborted(): AbortSignal {
  return new AbortController().signal
}

function textsOf(events: readonly ModelEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
}
