import { AppError } from '@agent-server/lib/errors.ts'
import type {
  KnownPerson,
  PeopleList,
  PersonRemoved,
} from '@agent-server/schemas/operator/people.ts'
import type { PersonChange } from '@agent-server/schemas/operator/usage.ts'
import {
  CONVERSATION_BOUNDS,
  type ConversationStore,
  type PeopleStore,
  type StoredPerson,
} from '@agent-server/stores'
import type { People } from './people.ts'

/** Conversations that are removed one after the other before the next are looked up. */
const BATCH = 100
/** Documents that are given to an heir one by one. */
const MAX_HANDED = 10_000_000
/** Whoever adds more meanwhile does not keep it from ending: the store removes the rest at once. */
const MAX_BATCHES = CONVERSATION_BOUNDS.maximumCount / BATCH

interface Dependencies {
  store: PeopleStore
  conversations: Pick<ConversationStore, 'list' | 'remove'>
  /** Deletes the documents of a conversation that was deleted. */
  conversationDeleted: (id: string) => Promise<void>
  /** Makes a document somebody's, in the index as well. Throws `index_unavailable`. */
  giveDocument: (id: string, to: string) => Promise<void>
  people: Pick<People, 'forget'>
}

interface Removal {
  dryRun: boolean
  /** To whom belongs what stays; nobody if absent. */
  handTo?: string | undefined
}

export type PeopleAdmin = ReturnType<typeof createPeopleAdmin>

/** Lists the people who were here, and removes what is theirs. */
export function createPeopleAdmin(dependencies: Dependencies) {
  const { store, conversations, conversationDeleted, giveDocument, people } = dependencies

  const removeConversations = async (owner: string) => {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const page = await conversations.list(owner, { limit: BATCH })
      for (const { id } of page) {
        await conversations.remove({ id, owner })
        await conversationDeleted(id)
      }
      if (page.length < BATCH) return
    }
  }

  /** Each by itself, so that the index lets the heir find it. The store gives away what is left. */
  const handDocuments = async (from: string, to: string) => {
    for (let batch = 0; batch < MAX_HANDED / BATCH; batch += 1) {
      const ids = await store.documentsOf(from, BATCH)
      await Promise.all(ids.map((id) => giveDocument(id, to)))
      if (ids.length < BATCH) return
    }
  }

  return {
    async list(query: { limit: number; cursor?: string | undefined }): Promise<PeopleList> {
      const { people: page, nextCursor } = await store.list(query)
      return { people: page.map(toKnown), ...(nextCursor !== undefined && { nextCursor }) }
    },

    /** Sets what somebody may use in a day. Throws `person_not_found`. */
    async change(id: string, change: PersonChange): Promise<KnownPerson> {
      const person = await store.limit(id, change)
      if (!person) throw notFound(id)
      return toKnown(person)
    },

    /** Throws `person_not_found`. After a failure, another call completes the work. */
    async remove(id: string, { dryRun, handTo }: Removal): Promise<PersonRemoved> {
      const measured = await store.measure(id)
      if (!measured) throw notFound(id)
      if (!dryRun) {
        await removeConversations(id)
        if (handTo !== undefined && handTo !== id) await handDocuments(id, handTo)
        await store.remove(id, handTo)
        people.forget(id)
      }
      const { handedOn, ...removed } = measured
      return {
        id,
        dryRun,
        removed,
        handedOn: { ...(handTo !== undefined && { to: handTo }), ...handedOn },
      }
    },
  }
}

function notFound(id: string): AppError {
  return new AppError('person_not_found', `There is no person with the id "${id}"`, { param: 'id' })
}

function toKnown({ name, email, firstSeenAt, lastSeenAt, ...person }: StoredPerson): KnownPerson {
  const { tokensPerDay, costPerDay } = person
  return {
    id: person.id,
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    groups: [...person.groups],
    firstSeenAt: new Date(firstSeenAt).toISOString(),
    lastSeenAt: new Date(lastSeenAt).toISOString(),
    ...(tokensPerDay !== undefined && { tokensPerDay }),
    ...(costPerDay !== undefined && { costPerDay }),
  }
}
