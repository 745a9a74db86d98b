import type { Encryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { AccessTokens, CompanySignIn } from '@agent-server/oidc'
import type { SessionStore } from '@agent-server/stores'
import { z } from 'zod'
import type { PersonSessions } from './person-sessions.ts'

/** What the browser keeps while the person is at the issuer. */
const Pending = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  to: z.string(),
  until: z.number(),
})
/** For as long a person may take at the issuer. */
export const PENDING_SECONDS = 900

/** OpenID Connect Back-Channel Logout, 2.4. */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const Logout = z.object({
  sid: z.string().max(255).optional(),
  sub: z.string().max(255).optional(),
  jti: z.string(),
  nonce: z.undefined().optional(),
  events: z.looseObject({ [LOGOUT_EVENT]: z.looseObject({}) }),
})

interface Dependencies {
  signIn: CompanySignIn
  tokens: Pick<AccessTokens, 'verifyLogout'>
  sessions: PersonSessions
  store: Pick<SessionStore, 'removeOf'>
  encryption: Encryption
  now?: () => number
}

export type CompanyAccounts = ReturnType<typeof createCompanyAccounts>

/** How people sign in to the web UI with the company's account, and out of it. */
export function createCompanyAccounts(dependencies: Dependencies) {
  const { signIn, tokens, sessions, store, encryption, now = Date.now } = dependencies
  return {
    sessions,

    /** Where the browser goes, and what it keeps until it comes back to `redirectUri`. */
    async begin(redirectUri: string, to: string) {
      const { url, pending } = await signIn.begin(redirectUri)
      return {
        url,
        sealed: await encryption.seal({ ...pending, to, until: now() + PENDING_SECONDS * 1_000 }),
      }
    },

    /**
     * Opens a session for who comes back with `query`. What the browser has kept ties the answer to the one that went
     * there: nobody can sign others in as themselves. Throws `unauthorized`, `groups_unknown`, `issuer_unavailable`.
     */
    async finish(query: string, sealed: string) {
      const pending = Pending.safeParse(await encryption.open(sealed)).data
      if (!pending || pending.until < now()) {
        const message = 'This sign-in was started in another browser, or too long ago. Start again.'
        throw new AppError('unauthorized', message)
      }
      const signedIn = await signIn.finish(query, pending)
      return { session: await sessions.begin(signedIn), to: pending.to, person: signedIn.person.id }
    },

    /** Ends a session; returns whose it was, and where the browser signs out of the issuer as well, if it can. */
    async signOut(session: string, origin: string | undefined) {
      const ended = await sessions.end(session)
      if (!ended) return undefined
      // Here, they are signed out in any case.
      const url =
        origin !== undefined &&
        (await ignore(signIn.signOutUrl(ended.idToken, `${origin}/`), 'the issuer does not answer'))
      return { person: ended.person, url: url || undefined }
    },

    /** Ends the sessions that the issuer names. Throws `unauthorized`, and `issuer_unavailable`. */
    async signedOutElsewhere(token: string): Promise<void> {
      const logout = Logout.safeParse(await tokens.verifyLogout(token))
      const { sid: issuerSession, sub: subject } = logout.data ?? {}
      if (issuerSession === undefined && subject === undefined) {
        throw new AppError('unauthorized', 'This is no logout token')
      }
      await store.removeOf({ issuerSession, subject })
    },
  }
}
