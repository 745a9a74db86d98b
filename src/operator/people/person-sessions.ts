import { createHmac, randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Encryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { keepNewest } from '@agent-server/lib/keep-newest.ts'
import { type CompanySignIn, type SignedIn, unavailable } from '@agent-server/oidc'
import type { Caller, Person } from '@agent-server/schemas/operator/api-key.ts'
import type { SessionStore, StoredSession } from '@agent-server/stores'
import { z } from 'zod'
import { callerFor, type People } from './people.ts'

export const SESSION_SECONDS = 7 * 24 * 3_600
const IDLE_MS = 8 * 3_600_000
/** How often to ask the issuer whether the person still exists, and in which groups. */
const CHECK_MS = 10 * 60_000
/** For how long groups count that the issuer has told, if it does not answer or gives no tokens to ask with. */
const KNOWN_MS = 3_600_000
/** How old the issuer's answer may be: longer than the issuer may take to answer. */
const RETRY_MS = 30_000
/** How long to wait for what another server learns from the issuer. */
const OTHERS = { waitMs: 2_000, everyMs: 100 }
const MAX_FAILURES = 10_000
const UNASKED_MS = IDLE_MS
/** How exactly it is noted when a session was last used. */
const USE_MS = 60_000
/** By how much the clocks of servers on the same store may differ. */
const SKEW_MS = 60_000
export const MOST_SESSIONS = { perPerson: 20, inAll: 100_000 }
const SECRET_BYTES = 32
/** So that no other session is looked for in the store. */
const PREFIX = 'person.'

const Tokens = z.object({ idToken: z.string(), refreshToken: z.string().optional() })

interface Dependencies {
  store: SessionStore
  signIn: Pick<CompanySignIn, 'refresh'>
  people: Pick<People, 'see'>
  encryption: Encryption
  serverApiKey: string
  /** Sessions of one issuer and client do not count with another, which may call others the same. */
  realm: string
  adminGroup: string | undefined
  now?: () => number
}

export type PersonSessions = ReturnType<typeof createPersonSessions>

/**
 * Sessions of people in the web UI, in the store, for all servers on it. Their browsers have a random value, of which
 * the store has a MAC. With a refresh token, the issuer is asked for the groups again every ten minutes, and ends the
 * session of whom it no longer knows; without one, the session ends after eight hours.
 */
export function createPersonSessions(dependencies: Dependencies) {
  const {
    store,
    people,
    encryption,
    serverApiKey,
    realm,
    adminGroup,
    now = Date.now,
  } = dependencies
  const refresh = createRefresh(dependencies)

  const macOf = (session: string) =>
    createHmac('sha256', serverApiKey)
      .update(`session of a person: ${realm} ${session}`)
      .digest('hex')
  const find = async (session: string): Promise<StoredSession | undefined> => {
    if (!session.startsWith(PREFIX)) return undefined
    const stored = await store.find(macOf(session))
    const isOpen =
      stored &&
      isWithin(stored.beganAt, SESSION_SECONDS * 1_000, now()) &&
      Math.max(stored.usedAt, stored.beganAt) + IDLE_MS > now()
    return isOpen ? stored : undefined
  }

  const current = async (session: string): Promise<StoredSession | undefined> => {
    const stored = await find(session)
    return stored && refresh(stored)
  }

  return {
    /** Opens a session and returns its value, which is always a new one. */
    async begin({ person, email, subject, issuerSession, tokens }: SignedIn): Promise<string> {
      await people.see({ person, email })
      await store.removeOld({
        beganAt: now() - SESSION_SECONDS * 1_000,
        usedAt: now() - IDLE_MS,
      })
      const session = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`
      const at = now()
      const { id, name, groups } = person
      await store.add(
        {
          mac: macOf(session),
          person: id,
          name,
          groups,
          sealed: await encryption.seal(tokens),
          subject,
          issuerSession,
          beganAt: at,
          usedAt: at,
          checkedAt: at,
          knownAt: at,
        },
        MOST_SESSIONS,
      )
      return session
    },

    /** Who has opened a session. Throws `groups_unknown` and `issuer_unavailable`. */
    async callerOf(session: string): Promise<Caller | undefined> {
      const stored = await current(session)
      if (!stored) return undefined
      if (stored.usedAt + USE_MS < now()) await store.use(stored.mac, now())
      return callerFor(personOf(stored, adminGroup), async () => {
        const later = await current(session)
        if (!later) throw new AppError('unauthorized', 'The session has ended. Sign in again.')
        if (areSame(later.groups, stored.groups)) return
        throw new AppError('unauthorized', 'Your groups have changed. Start again.')
      })
    },

    /** Ends a session; returns the ID token with which the browser can sign out of the issuer. */
    async end(session: string): Promise<{ person: string; idToken: string } | undefined> {
      const stored = await find(session)
      if (!stored) return undefined
      await store.remove(stored.mac)
      const tokens = Tokens.safeParse(await encryption.open(stored.sealed)).data
      return tokens && { person: stored.person, idToken: tokens.idToken }
    },
  }
}

/**
 * Whether something happened less than so long ago. What the clock of then calls the future has happened by a clock that
 * was wrong: nobody knows when.
 */
function isWithin(at: number, milliseconds: number, now: number): boolean {
  return at + milliseconds > now && at <= now + SKEW_MS
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((group) => others.includes(group))
}

function personOf({ person: id, name, groups }: StoredSession, adminGroup?: string): Person {
  const isAdministrator = adminGroup !== undefined && groups.includes(adminGroup)
  return { id, name, groups, isAdministrator }
}

/** Gives a session with what the issuer says now; undefined if it has ended there. */
function createRefresh(dependencies: Dependencies) {
  const { store, signIn, people, encryption, now = Date.now } = dependencies

  const isKnown = ({ knownAt }: StoredSession) => isWithin(knownAt, KNOWN_MS, now())

  const renewed = async (session: StoredSession, tokens: z.output<typeof Tokens>) => {
    const next = await signIn.refresh({ tokens, person: personOf(session) })
    const { name, groups } = next.person
    const known = { name, groups, sealed: await encryption.seal(next.tokens), knownAt: now() }
    // First: the issuer takes the earlier token no more.
    if (!(await store.renew(session.mac, known))) return undefined
    await people.see(next)
    return { ...session, ...known }
  }

  /** The session while the issuer cannot be asked. */
  const failed = async (session: StoredSession, error: unknown) => {
    const code = error instanceof AppError ? error.code : undefined
    if (code === 'issuer_unavailable' && isKnown(session)) return session
    if (code !== 'unauthorized' && code !== 'groups_unknown') throw error
    await store.remove(session.mac)
    return undefined
  }

  const running = new Map<string, Promise<StoredSession | undefined>>()
  /** When checks of this server began that failed: no other server will bring their result. */
  const failures = new Map<string, number>()
  const begin = (session: StoredSession, tokens: z.output<typeof Tokens>, at: number) => {
    const answer = renewed(session, tokens)
      .catch((error: unknown) => {
        keepNewest(failures, session.mac, at, MAX_FAILURES)
        return failed(session, error)
      })
      .finally(() => running.delete(session.mac))
    running.set(session.mac, answer)
    return answer
  }

  const isDue = (session: StoredSession) =>
    !isWithin(session.checkedAt, isKnown(session) ? CHECK_MS : RETRY_MS, now())

  /** The check of a session that another request is waiting for, or had a moment ago. */
  const awaited = async (session: StoredSession) => {
    if (isKnown(session)) return session
    return running.get(session.mac) ?? waitForOther(session)
  }

  /** What another server learns from the issuer. */
  const waitForOther = async (session: StoredSession) => {
    const until = performance.now() + OTHERS.waitMs
    for (;;) {
      const latest = await store.find(session.mac)
      if (!latest || isKnown(latest)) return latest
      if (failures.get(session.mac) === latest.checkedAt || performance.now() > until) break
      await setTimeout(OTHERS.everyMs)
    }
    throw unavailable(new Error('It did not answer a moment ago'))
  }

  return async (session: StoredSession): Promise<StoredSession | undefined> => {
    if (!isDue(session) && isKnown(session)) return session
    const tokens = Tokens.safeParse(await encryption.open(session.sealed)).data
    if (!tokens?.refreshToken)
      return isWithin(session.knownAt, UNASKED_MS, now()) ? session : undefined
    // Tokens to refresh with work once: of all requests and servers, one asks.
    const at = now()
    const isAsking = isDue(session) && (await store.claimCheck(session.mac, session.checkedAt, at))
    return isAsking ? begin(session, tokens, at) : awaited(session)
  }
}
