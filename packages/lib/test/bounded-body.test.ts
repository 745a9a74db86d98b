import { boundBody, readBoundedText, readStartOfText } from '@agent-server/lib/bounded-body.ts'
import { describe, expect, it } from 'vitest'

describe('A bounded body', () => {
  it('is read up to its bound', async () => {
    expect(await readBoundedText(new Response('12345'), 5)).toBe('12345')
    expect(await readBoundedText(new Response(null), 5)).toBe('')
  })

  it('is aborted beyond its bound', async () => {
    const { body, state } = endless()
    await expect(readBoundedText(new Response(body), 5)).rejects.toThrow(RangeError)
    expect(state.cancelled).toBe(true)
  })

  it('is cut if the beginning is enough', async () => {
    const { body, state } = endless()
    expect(await readStartOfText(new Response(body), 5)).toEqual({ text: 'xxxxx', isCut: true })
    expect(state.cancelled).toBe(true)
  })

  it('fails with the reader’s own error', async () => {
    const tooLarge = () => new Error('much')
    const bounded = boundBody(endless().body, { maxBytes: 5, tooLarge })
    await expect(new Response(bounded).text()).rejects.toThrow('much')
    const broken = new ReadableStream({ pull: () => Promise.reject(new Error('cut')) })
    const explained = boundBody(broken, { maxBytes: 5, explain: () => new Error('lost') })
    await expect(new Response(explained).text()).rejects.toThrow('lost')
  })
})

function endless() {
  const state = { cancelled: false }
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('xxx')),
    cancel: () => {
      state.cancelled = true
    },
  })
  return { body, state }
}
