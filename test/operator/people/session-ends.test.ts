import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { SignedIn } from '@agent-server/oidc'
import { describe, expect, it } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import { createPeople } from '../../../src/operator/people/people.ts'
import { createPersonSessions } from '../../../src/operator/people/person-sessions.ts'

const openSqliteStore = useSqliteStores()

const MINUTE = 60_000
const HOUR = 3_600_000
const KEY = 'a-key-for-tests-only'

const ada = (groups: string[], refreshToken?: string): SignedIn => ({
  person: { id: 'user:ada', name: 'Ada', groups, isAdministrator: false },
  email: undefined,
  subject: 'ada',
  issuerSession: 'sid-1',
  tokens: { idToken: 'an ID token', refreshToken },
})

/** Servers on one store, whose issuer answers as `issuer.answer` does, at a time that stands still unless it is set. */
async function open() {
  const { people: peopleStore, sessions: store } = await openSqliteStore()
  const clock = { now: Date.UTC(2026, 0, 1) }
  const issuer = { asked: 0, answer: async (): Promise<SignedIn> => ada(['staff'], 'next') }
  const people = createPeople({ store: peopleStore, tokens: undefined })
  const encryption = createEncryption(KEY, 'tokens of sessions')
  const server = (serverApiKey = KEY) =>
    createPersonSessions({
      store,
      people,
      encryption,
      serverApiKey,
      realm: 'one',
      adminGroup: 'admins',
      now: () => clock.now,
      signIn: {
        refresh: () => {
          issuer.asked += 1
          return issuer.answer()
        },
      },
    })
  return { clock, issuer, server, store }
}

const down = async () => {
  throw new AppError('issuer_unavailable', 'The issuer does not answer')
}
const closed = async () => {
  throw new AppError('unauthorized', 'The account is closed')
}

describe('A session of a person', () => {
  it('has the groups that the issuer tells after ten minutes, and their rights', async () => {
    const { clock, issuer, server } = await open()
    const sessions = server()
    const session = await sessions.begin(ada(['staff'], 'first'))
    issuer.answer = async () => ada(['admins'], 'next')
    clock.now += 9 * MINUTE
    expect((await sessions.callerOf(session))?.scopes).not.toContain('admin')
    expect(issuer.asked).toBe(0)
    clock.now += MINUTE
    expect((await sessions.callerOf(session))?.scopes).toContain('admin')
    issuer.answer = async () => ada([], 'last')
    clock.now += 10 * MINUTE
    const caller = await sessions.callerOf(session)
    expect(caller).toMatchObject({ person: { groups: [] }, scopes: ['query', 'chat', 'ingest'] })
  })

  it('asks the issuer once, whichever servers see it at the same time', async () => {
    const { clock, issuer, server } = await open()
    const [one, other] = [server(), server()]
    const session = await one.begin(ada(['staff'], 'first'))
    clock.now += 10 * MINUTE
    const callers = [one, other, one, other].map((each) => each.callerOf(session))
    for (const caller of await Promise.all(callers)) expect(caller?.person?.id).toBe('user:ada')
    expect(issuer.asked).toBe(1)
  })

  it('is known to a server that waits for what another learns, also after an hour', async () => {
    const { clock, issuer, server } = await open()
    const [one, other] = [server(), server()]
    const session = await one.begin(ada(['staff'], 'first'))
    clock.now += 70 * MINUTE
    let waiting: ReturnType<typeof other.callerOf> | undefined
    issuer.answer = async () => {
      waiting = other.callerOf(session)
      return ada(['admins'], 'next')
    }
    expect((await one.callerOf(session))?.person?.groups).toEqual(['admins'])
    expect((await waiting)?.person?.groups).toEqual(['admins'])
    expect(issuer.asked).toBe(1)
  })

  it('ends once the issuer no longer knows the person, also for what is under way', async () => {
    const { clock, issuer, server } = await open()
    const sessions = server()
    const session = await sessions.begin(ada(['staff'], 'first'))
    const caller = await sessions.callerOf(session)
    issuer.answer = closed
    clock.now += 10 * MINUTE
    expect(await sessions.callerOf(session)).toBeUndefined()
    await expect(caller?.verify()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('goes on for an hour while the issuer is down, and is then neither let in nor ended', async () => {
    const { clock, issuer, server } = await open()
    const sessions = server()
    const session = await sessions.begin(ada(['staff'], 'first'))
    issuer.answer = down
    clock.now += 59 * MINUTE
    expect((await sessions.callerOf(session))?.person?.groups).toEqual(['staff'])
    clock.now += 11 * MINUTE
    await expect(sessions.callerOf(session)).rejects.toMatchObject({ code: 'issuer_unavailable' })
    issuer.answer = async () => ada(['staff'], 'next')
    clock.now += 10 * MINUTE
    expect(await sessions.callerOf(session)).toBeDefined()
  })

  it('ends after eight hours without use, and without a way to ask the issuer', async () => {
    const { clock, server } = await open()
    const sessions = server()
    const idle = await sessions.begin(ada(['staff'], 'first'))
    clock.now += 8 * HOUR
    expect(await sessions.callerOf(idle)).toBeUndefined()
    const unasked = await sessions.begin(ada(['staff']))
    for (let hour = 1; hour < 8; hour += 1) {
      clock.now += HOUR
      expect(await sessions.callerOf(unasked), `${hour}`).toBeDefined()
    }
    clock.now += HOUR
    expect(await sessions.callerOf(unasked)).toBeUndefined()
  })

  it('ends after seven days of use', async () => {
    const { clock, server } = await open()
    const sessions = server()
    const session = await sessions.begin(ada(['staff'], 'first'))
    for (let part = 1; part < 28; part += 1) {
      clock.now += 6 * HOUR
      expect(await sessions.callerOf(session), `${part}`).toBeDefined()
    }
    clock.now += 6 * HOUR
    expect(await sessions.callerOf(session)).toBeUndefined()
  })

  it('asks the issuer at once if the clock was ahead when it last answered', async () => {
    const { clock, issuer, server } = await open()
    const sessions = server()
    const session = await sessions.begin(ada(['staff'], 'first'))
    const unasked = await sessions.begin(ada(['staff']))
    clock.now += 2 * HOUR
    expect(await sessions.callerOf(session)).toBeDefined()
    clock.now -= 90 * MINUTE
    issuer.answer = closed
    expect(await sessions.callerOf(session)).toBeUndefined()
    expect(await sessions.callerOf(unasked)).toBeDefined()
  })

  it('lasts no longer if it was begun by a clock that was ahead', async () => {
    const { clock, server } = await open()
    const sessions = server()
    clock.now += 400 * 24 * HOUR
    const session = await sessions.begin(ada(['staff'], 'first'))
    const unasked = await sessions.begin(ada(['staff']))
    clock.now -= 400 * 24 * HOUR
    expect(await sessions.callerOf(session)).toBeUndefined()
    expect(await sessions.callerOf(unasked)).toBeUndefined()
  })

  it('is worth nothing under another server key, nor by what the store has', async () => {
    const { server, store } = await open()
    const session = await server().begin(ada(['staff'], 'a refresh token'))
    expect(await server('another-key-for-tests').callerOf(session)).toBeUndefined()
    const mac = session.slice('person.'.length)
    expect(await store.find(mac)).toBeUndefined()
    expect(await server().callerOf(`person.${mac}x`)).toBeUndefined()
  })

  it('is one of at most twenty of a person', async () => {
    const { clock, server } = await open()
    const sessions = server()
    const opened: string[] = []
    for (let number = 0; number < 21; number += 1) {
      opened.push(await sessions.begin(ada(['staff'], 'first')))
      clock.now += 1
    }
    const callers = await Promise.all(opened.map((session) => sessions.callerOf(session)))
    expect(callers.map((caller) => caller !== undefined)).toEqual([
      false,
      ...Array.from({ length: 20 }, () => true),
    ])
  })
})
