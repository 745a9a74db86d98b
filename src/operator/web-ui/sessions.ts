import { createHmac, randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '@agent-server/lib/errors.ts'
import { readIfPresent, replaceFile } from '@agent-server/lib/files.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { keepNewest } from '@agent-server/lib/keep-newest.ts'
import { createKeyCheck } from '@agent-server/lib/key-check.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { z } from 'zod'

/** The lifetime of a session, counted from sign-in; use does not extend it. */
export const SESSION_SECONDS = 7 * 24 * 3_600
/** Concurrent sessions; one more ends the oldest. */
const MAX_SESSIONS = 64
const TOKEN_MS = 30 * 60_000
const SECRET_BYTES = 32

const StoredSessions = z.array(z.object({ mac: z.string(), endsAt: z.number() })).max(MAX_SESSIONS)

interface Options {
  serverApiKey: string
  /** Keeps the sessions across restarts, if it can be written. */
  file: string
  /** Called with the error that keeps the sessions from being saved; they will then end with the process. */
  onUnwritable: (error: unknown) => void
  now?: () => number
}

/**
 * Who is signed in to the web UI. A session is a random value that only its browser has; the server keeps only its MAC
 * under the server's key, and its expiry. So what is on disk gives no access, and changing the key invalidates every
 * session.
 */
export async function openSessions(options: Options) {
  const { serverApiKey, now = Date.now } = options
  const sessions = await readSessions(options.file)
  const checkKey = createKeyCheck({
    identify: (key) => isSameSecret(key, serverApiKey),
    refusal:
      'The key is invalid. Use the SERVER_API_KEY: keys made on the Keys page are for programs.',
    now: options.now,
  })
  let token: { value: string; endsAt: number } | undefined
  let writing = Promise.resolve()

  const macOf = (session: string) =>
    createHmac('sha256', serverApiKey).update(`session of the web UI: ${session}`).digest('hex')
  const save = () => {
    const records = Array.from(sessions, ([mac, endsAt]) => ({ mac, endsAt }))
    writing = writing
      .then(() => writeSessions(options.file, records))
      .catch((error: unknown) => options.onUnwritable(error))
    return writing
  }
  const begin = async () => {
    for (const [mac, endsAt] of sessions) if (endsAt <= now()) sessions.delete(mac)
    const session = randomBytes(SECRET_BYTES).toString('base64url')
    keepNewest(sessions, macOf(session), now() + SESSION_SECONDS * 1_000, MAX_SESSIONS)
    await save()
    return session
  }

  return {
    /** Issues a single-use token that opens a session within half an hour; it replaces the previous token. */
    issueToken(): string {
      const value = randomBytes(SECRET_BYTES).toString('base64url')
      token = { value, endsAt: now() + TOKEN_MS }
      return value
    },

    /**
     * Opens a session and returns its value. Throws AppError `unauthorized`, and `too_many_attempts` for an address
     * that sent too many wrong keys.
     */
    async signIn(secret: { key: string } | { token: string }, address: string): Promise<string> {
      if ('token' in secret) {
        const isRight = token && token.endsAt > now() && isSameSecret(secret.token, token.value)
        // Not counted: links cannot be guessed, and any site can contain a wrong one.
        if (!isRight) {
          throw new AppError('unauthorized', 'This link was already used or has expired')
        }
        token = undefined
        return begin()
      }
      await checkKey(secret.key, address)
      return begin()
    },

    isOpen(session: string): boolean {
      const left = (sessions.get(macOf(session)) ?? 0) - now()
      // One that was begun by a clock that went ahead would last until then.
      return left > 0 && left <= SESSION_SECONDS * 1_000
    },

    async signOut(session: string): Promise<void> {
      if (sessions.delete(macOf(session))) await save()
    },

    /** The server's key; only for somebody who is signed in. */
    revealKey: () => serverApiKey,
  }
}

export type Sessions = Awaited<ReturnType<typeof openSessions>>

/** An unreadable file counts as no sessions: everybody has to sign in again. */
async function readSessions(file: string): Promise<Map<string, number>> {
  const text = await ignore(readIfPresent(file), 'everybody has to sign in again')
  const records = StoredSessions.safeParse(parseJson(text?.toString() ?? '[]'))
  return new Map((records.data ?? []).map(({ mac, endsAt }) => [mac, endsAt]))
}

async function writeSessions(file: string, stored: z.output<typeof StoredSessions>): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await replaceFile(file, JSON.stringify(stored), 0o600)
}
