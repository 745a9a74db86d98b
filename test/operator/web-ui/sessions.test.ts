import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSessions } from '../../../src/operator/web-ui/sessions.ts'
import { verifies } from '../../requirements.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const KEY = 'a-key-of-sixteen-or-more'
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

async function open(file?: string) {
  const clock = { time: 1_000_000 }
  const failures: unknown[] = []
  const sessions = await openSessions({
    serverApiKey: KEY,
    file: file ?? join(await temporaryDirectory(), 'sessions.json'),
    onUnwritable: (error) => failures.push(error),
    now: () => clock.time,
  })
  return { ...sessions, clock, failures }
}

describe('The link of the first start', () => {
  it('opens one session, once', verifies('web-ui.token'), async () => {
    const { issueToken, signIn, isOpen } = await open()
    const token = issueToken()
    expect(isOpen(await signIn({ token }, 'a'))).toBe(true)
    await expect(signIn({ token }, 'a')).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('is invalid after half an hour', async () => {
    const { issueToken, signIn, clock } = await open()
    const token = issueToken()
    clock.time += 30 * MINUTE_MS
    await expect(signIn({ token }, 'a')).rejects.toThrow(/has expired/)
  })

  it('cannot be guessed or left empty', async () => {
    const { issueToken, signIn } = await open()
    await expect(signIn({ token: 'x' }, 'a')).rejects.toMatchObject({ code: 'unauthorized' })
    const token = issueToken()
    await expect(signIn({ token: `${token}x` }, 'a')).rejects.toMatchObject({
      code: 'unauthorized',
    })
    await expect(signIn({ key: token }, 'a')).rejects.toMatchObject({ code: 'unauthorized' })
  })
})

describe('Sessions', () => {
  it('end after a week', async () => {
    const { signIn, isOpen, clock } = await open()
    clock.time += 400 * DAY_MS
    const ahead = await signIn({ key: KEY }, 'here')
    clock.time -= 400 * DAY_MS
    expect(isOpen(ahead)).toBe(false)
    const session = await signIn({ key: KEY }, 'a')
    clock.time += 7 * DAY_MS - 1
    expect(isOpen(session)).toBe(true)
    clock.time += 1
    expect(isOpen(session)).toBe(false)
  })

  it('are 64 at most: one more ends the oldest', async () => {
    const { signIn, isOpen } = await open()
    const opened: string[] = []
    for (let count = 0; count < 65; count += 1) opened.push(await signIn({ key: KEY }, 'a'))
    expect(opened.map(isOpen)).toEqual([false, ...Array.from({ length: 64 }, () => true)])
  })

  it('are stored readable only by the owner, and loaded again', async () => {
    const file = join(await temporaryDirectory(), 'sessions.json')
    const session = await (await open(file)).signIn({ key: KEY }, 'a')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).not.toContain(session)
    expect((await open(file)).isOpen(session)).toBe(true)
  })

  it.each(['', 'no JSON', '{"mac": 1}', '[{"mac": "x"}]'])(
    'begin anew where the file holds something else: %j',
    async (text) => {
      const file = join(await temporaryDirectory(), 'sessions.json')
      await writeFile(file, text)
      const { signIn, isOpen } = await open(file)
      expect(isOpen(await signIn({ key: KEY }, 'a'))).toBe(true)
    },
  )

  it('last as long as the process where nothing can be written, which is said', async () => {
    const file = join(await temporaryDirectory(), 'sessions.json')
    await mkdir(file)
    const { signIn, isOpen, failures } = await open(file)
    expect(isOpen(await signIn({ key: KEY }, 'a'))).toBe(true)
    expect(failures).toHaveLength(1)
  })

  it('limit wrong keys per address and minute', async () => {
    const { signIn, clock } = await open()
    for (let count = 0; count < 10; count += 1) {
      await expect(signIn({ key: 'wrong' }, 'a')).rejects.toMatchObject({ code: 'unauthorized' })
    }
    await expect(signIn({ key: KEY }, 'a')).rejects.toMatchObject({
      code: 'too_many_attempts',
      retryAfter: 60,
    })
    await expect(signIn({ key: KEY }, 'b')).resolves.toBeTypeOf('string')
    clock.time += MINUTE_MS
    await expect(signIn({ key: KEY }, 'a')).resolves.toBeTypeOf('string')
  })

  it('accept the right key and link after any number of wrong links', async () => {
    const { signIn, issueToken } = await open()
    for (let count = 0; count < 20; count += 1) {
      await expect(signIn({ token: 'x' }, 'a')).rejects.toMatchObject({ code: 'unauthorized' })
    }
    await expect(signIn({ key: KEY }, 'a')).resolves.toBeTypeOf('string')
    await expect(signIn({ token: issueToken() }, 'a')).resolves.toBeTypeOf('string')
  })
})
