import { once } from 'node:events'
import { connect } from 'node:net'
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

/** One connection that requests are written to by hand. */
function openConnection(url: string) {
  const { port, pathname } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  return {
    socket,
    ask: (version: string) =>
      socket.write(`POST ${pathname} HTTP/${version}\r\nhost: here\r\n\r\n`),
    received: () => received,
  }
}

/** The bodies of answers on one connection, each of them in chunks. */
function bodiesOf(received: string): string[] {
  const [, ...bodies] = received.split(/HTTP\/1\.1 200 OK(?:\r\n.+)*\r\n\r\n/)
  return bodies.map((body) => {
    const parts = body.slice(0, -'\r\n0\r\n\r\n'.length).split('\r\n')
    const texts = parts.filter((_, at) => at % 2 === 1)
    expect(parts).toEqual(texts.flatMap((text) => [text.length.toString(16), text]))
    return texts.join('')
  })
}

type Stream = Awaited<ReturnType<typeof openStreams>>['streams'][number]

/** Streams that yield `one`, then what is told to them; until then their shortcuts can be used. */
async function openStreams() {
  const streams: {
    shortcut: Shortcut<readonly string[]>
    tell: (events: string[]) => void
    wasOpen: boolean
  }[] = []
  const { url } = await openApp((app) => {
    app.post('/stream', open, (_request, reply) => {
      const told = Promise.withResolvers<string[]>()
      sendEvents(
        reply,
        async function* (shortcut: Shortcut<readonly string[]>) {
          streams.push({ shortcut, tell: told.resolve, wasOpen: shortcut.isOpen() })
          yield ['one']
          yield await told.promise
        },
        FORMAT,
      )
    })
  })
  return { url: `${url}/stream`, streams }
}

const isOpen = (stream?: Stream) => stream?.shortcut.isOpen() ?? false
const untilOpen = (stream: () => Stream | undefined) =>
  vi.waitFor(() => expect(isOpen(stream())).toBe(true), PATIENCE)

async function openStream() {
  const { url, streams } = await openStreams()
  const response = await fetch(url, { method: 'POST' })
  const [stream] = streams
  if (!stream) throw new Error('Nothing was asked')
  return { response, ...stream }
}

it('Events go along the shortcut while the reader waits, and stand between those before and after', async () => {
  const { response, shortcut, tell, wasOpen } = await openStream()
  expect(wasOpen).toBe(false)
  await vi.waitFor(() => expect(shortcut.isOpen()).toBe(true), PATIENCE)
  shortcut.take(['zwölf 🦉'])
  shortcut.take([])
  shortcut.take(['three', 'four'])
  tell(['five'])
  expect(await response.text()).toBe('one\nzwölf 🦉\nthree\nfour\nfive\nend\n')
  expect(shortcut.isOpen()).toBe(false)
})

it('What goes along the shortcut stands behind what a batch before it has left to be sent', async () => {
  let isTaken = false
  const { url } = await openApp((app) => {
    app.post('/stream', open, (_request, reply) => {
      sendEvents(
        reply,
        async function* (shortcut: Shortcut<readonly string[]>) {
          yield ['one']
          yield ['two']
          isTaken = shortcut.isOpen()
          shortcut.take(['three'])
          yield ['four']
        },
        FORMAT,
      )
    })
  })
  const response = await fetch(`${url}/stream`, { method: 'POST' })
  expect(await response.text()).toBe('one\ntwo\nthree\nfour\nend\n')
  expect(isTaken).toBe(true)
})

it('A client of HTTP/1.0 gets what goes along the shortcut as it is', async () => {
  const { url, streams } = await openStreams()
  const { socket, ask, received } = openConnection(url)
  ask('1.0')
  await untilOpen(() => streams[0])
  streams[0]?.shortcut.take(['zwölf'])
  streams[0]?.tell(['three'])
  await once(socket, 'close')
  expect(received().split('\r\n\r\n').at(-1)).toBe('one\nzwölf\nthree\nend\n')
})

it('What goes along the shortcut of an answer waits for the answers before it on its connection, which serves on', async () => {
  const { url, streams } = await openStreams()
  const { socket, ask, received } = openConnection(url)
  ask('1.1')
  ask('1.1')
  await untilOpen(() => streams[1])
  streams[1]?.shortcut.take(['two of b'])
  streams[0]?.shortcut.take(['two of a'])
  streams[1]?.tell(['three of b'])
  streams[0]?.tell(['three of a'])
  await vi.waitFor(() => expect(received()).toContain('three of b\n'), PATIENCE)
  ask('1.1')
  await untilOpen(() => streams[2])
  streams[2]?.shortcut.take(['two of c'])
  streams[2]?.tell(['three of c'])
  await vi.waitFor(() => expect(received()).toMatch(/three of c\n[\s\S]*\r\n0\r\n\r\n$/), PATIENCE)
  expect(bodiesOf(received())).toEqual(
    ['a', 'b', 'c'].map((each) => `one\ntwo of ${each}\nthree of ${each}\nend\n`),
  )
  socket.destroy()
})

it('What goes along the shortcut once the reader has left is lost, and nothing else', async () => {
  const { url, streams } = await openStreams()
  const { socket, ask } = openConnection(url)
  ask('1.1')
  await untilOpen(() => streams[0])
  socket.resetAndDestroy()
  await vi.waitFor(() => {
    streams[0]?.shortcut.take(['two'])
    expect(isOpen(streams[0])).toBe(false)
  }, PATIENCE)
  streams[0]?.shortcut.take(['three'])
  const response = await fetch(url, { method: 'POST' })
  streams[1]?.tell(['two'])
  expect(await response.text()).toBe('one\ntwo\nend\n')
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
    if (!shortcut.isOpen()) return false
    shortcut.take([PIECE])
    taken += 1
    return taken < 1_000
  }
  await vi.waitFor(() => expect(shortcut.isOpen()).toBe(true), PATIENCE)
  // Until nothing more is taken for a while: the buffers of the system take some as they please.
  for (let before = -1; before < taken; ) {
    before = taken
    while (take()) await pause(1)
    await pause(100)
  }
  expect(shortcut.isOpen()).toBe(false)
  expect(taken).toBeLessThan(1_000)
  const text = response.text()
  await vi.waitFor(() => expect(shortcut.isOpen()).toBe(true), PATIENCE)
  tell(['last'])
  expect((await text).length).toBe('one\nlast\nend\n'.length + taken * (PIECE.length + 1))
})

it('A shortcut beside a generator takes what that makes of an item, and is open when the next one is', () => {
  const taken: number[] = []
  let isOpen = true
  const next = { isOpen: () => isOpen, take: (item: number) => void taken.push(item) }
  const shortcut = alongside(next, (item: string) => (item === '' ? undefined : Number(item)))
  for (const item of ['12', '', '3']) shortcut?.take(item)
  expect(taken).toEqual([12, 3])
  expect(shortcut?.isOpen()).toBe(true)
  isOpen = false
  expect(shortcut?.isOpen()).toBe(false)
  expect(alongside(undefined, () => [])).toBeUndefined()
})
