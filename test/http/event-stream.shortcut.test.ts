import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { type FrameFormat, sendEvents } from '../../src/http/event-stream.ts'
import { alongside, type Shortcut } from '../../src/lib/shortcut.ts'
import { open, openApp } from './open-app.ts'

const FORMAT: FrameFormat<string> = {
  encode: (event) => `${event}\n`,
  encodeError: ({ error }) => `failed ${error.code}\n`,
  end: 'end\n',
}
/** More than the buffers of a connection hold. */
const PIECE = 'x'.repeat(1_000_000)
const PATIENCE = { timeout: 20_000, interval: 10 }

/** A stream that yields `one`, then what is told to it; until then its shortcut can be used. */
async function openStream() {
  const told = Promise.withResolvers<string[]>()
  let shortcut: Shortcut<string> | undefined
  let wasOpen = false
  const { url } = await openApp((app) => {
    app.post('/stream', open, (_request, reply) => {
      sendEvents(
        reply,
        async function* (given: Shortcut<string>) {
          shortcut = given
          wasOpen = given.isOpen
          yield ['one']
          yield await told.promise
        },
        FORMAT,
      )
    })
  })
  const response = await fetch(`${url}/stream`, { method: 'POST' })
  return { response, shortcut, tell: told.resolve, wasOpen }
}

it('Events go along the shortcut while the reader waits, and stand between those before and after', async () => {
  const { response, shortcut, tell, wasOpen } = await openStream()
  expect(wasOpen).toBe(false)
  await vi.waitFor(() => expect(shortcut?.isOpen).toBe(true), PATIENCE)
  shortcut?.take(['two'])
  shortcut?.take(['three', 'four'])
  tell(['five'])
  expect(await response.text()).toBe('one\ntwo\nthree\nfour\nfive\nend\n')
  expect(shortcut?.isOpen).toBe(false)
})

it('The end of a stream leaves in one write with what comes last', async () => {
  const { response, tell } = await openStream()
  const parts: string[] = []
  const read = async () => {
    for await (const part of response.body ?? []) parts.push(Buffer.from(part).toString())
  }
  const reading = read()
  await vi.waitFor(() => expect(parts).toEqual(['one\n']), PATIENCE)
  tell(['two'])
  await reading
  expect(parts).toEqual(['one\n', 'two\nend\n'])
})

it('A reader that does not read closes the shortcut, and opens it when it goes on', async () => {
  const { response, shortcut, tell } = await openStream()
  let taken = 0
  const take = () => {
    if (!shortcut?.isOpen) return false
    shortcut.take([PIECE])
    taken += 1
    return taken < 1_000
  }
  await vi.waitFor(() => expect(shortcut?.isOpen).toBe(true), PATIENCE)
  // Until nothing more is taken for a while: the buffers of the system take some as they please.
  for (let before = -1; before < taken; ) {
    before = taken
    while (take()) await pause(1)
    await pause(100)
  }
  expect(shortcut?.isOpen).toBe(false)
  expect(taken).toBeLessThan(1_000)
  const text = response.text()
  await vi.waitFor(() => expect(shortcut?.isOpen).toBe(true), PATIENCE)
  tell(['last'])
  expect((await text).length).toBe('one\nlast\nend\n'.length + taken * (PIECE.length + 1))
})

it('A shortcut beside a generator takes what that makes of a batch, and is open when the next one is', () => {
  const taken: number[][] = []
  const next = { isOpen: true, take: (batch: readonly number[]) => void taken.push([...batch]) }
  const shortcut = alongside(next, (batch: readonly string[]) =>
    batch.flatMap((each) => [...each].map(Number)),
  )
  shortcut?.take(['12', '3'])
  shortcut?.take([''])
  expect(taken).toEqual([[1, 2, 3]])
  expect(shortcut?.isOpen).toBe(true)
  next.isOpen = false
  expect(shortcut?.isOpen).toBe(false)
  expect(alongside(undefined, () => [])).toBeUndefined()
})
