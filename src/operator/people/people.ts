import { AppError } from '@agent-server/lib/errors.ts'
import { keepNewest } from '@agent-server/lib/keep-newest.ts'
import { type AccessTokens, type DescribedPerson, isJwt } from '@agent-server/oidc'
import type { Caller, Person, Scope } from '@agent-server/schemas/operator/api-key.ts'
import type { PeopleStore } from '@agent-server/stores'

/** What everybody may do who can sign in; what they see is a matter of rights. */
const PERSON_SCOPES: readonly Scope[] = ['query', 'chat', 'ingest']
/** Nobody speaks for others in their own name. */
const ADMINISTRATOR_SCOPES: readonly Scope[] = [...PERSON_SCOPES, 'admin']
/** How often it is noted that somebody was here. */
const SEEN_MS = 10 * 60_000
const MAX_SEEN = 10_000

interface Dependencies {
  store: Pick<PeopleStore, 'see'>
  /** Absent where only keys let in. */
  tokens: Pick<AccessTokens, 'verify'> | undefined
  now?: () => number
}

export type People = ReturnType<typeof createPeople>

/** The people whom the issuer knows, or for whom programs speak. */
export function createPeople({ store, tokens, now = Date.now }: Dependencies) {
  /** When each was last noted, as what. */
  const seen = new Map<string, { at: number; as: string }>()

  return {
    /** Notes who is here: at once if they are new or have changed. */
    async see({ person: { id, name, groups }, email }: DescribedPerson): Promise<void> {
      const as = JSON.stringify([name, email, groups])
      const last = seen.get(id)
      if (last && last.as === as && last.at + SEEN_MS > now()) return
      await store.see({ id, name, email, groups })
      keepNewest(seen, id, { at: now(), as }, MAX_SEEN)
    },

    /** Notes them again when they come back. */
    forget: (id: string) => void seen.delete(id),

    /**
     * The caller of an access token; undefined if it does not look like one. Throws `unauthorized`, `groups_unknown` and
     * `issuer_unavailable`.
     */
    async identify(token: string): Promise<Caller | undefined> {
      if (!tokens || !isJwt(token)) return undefined
      const { expiresAt, ...known } = await tokens.verify(token)
      await this.see(known)
      return callerFor(known.person, async () => {
        if (expiresAt > now()) return
        throw new AppError('unauthorized', 'The access token has expired')
      })
    },
  }
}

/** Administrators have the scope `admin`, and so what a key with it has. `verify` throws once the person is not let in any more. */
export function callerFor(person: Person, verify: () => Promise<void>): Caller {
  return {
    person,
    scopes: person.isAdministrator ? ADMINISTRATOR_SCOPES : PERSON_SCOPES,
    verify,
  }
}
