import { type Call, mapCall, Pages } from './call.ts'
import type { KnownPerson, PeopleList, PersonChange, PersonRemoved } from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** The people who were here, for whoever runs the server. */
export class People {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Lists them with their groups and limits of their own, in the order in which they first signed in. */
  list({ limit, ...options }: RequestOptions & { limit?: number } = {}): Pages<KnownPerson> {
    return new Pages((cursor) => {
      const request = { method: 'GET', path: '/admin/people', query: { limit, cursor } } as const
      return mapCall(
        this.#transport.json<PeopleList>(request, options),
        ({ people, nextCursor }) => ({ items: people, nextCursor }),
      )
    })
  }

  /** Sets what somebody, such as `user:7c1e`, may use in a day; null takes a limit away. Throws `NotFoundError`. */
  update(id: string, change: PersonChange, options?: RequestOptions): Call<KnownPerson> {
    const path = `/admin/people/${encodeURIComponent(id)}`
    return this.#transport.json({ method: 'PATCH', path, json: change }, options)
  }

  /**
   * Removes somebody and what is theirs alone, or with `dryRun` only says how much that is. Their documents go to
   * `handTo`, or to nobody. Throws `NotFoundError`.
   */
  delete(
    id: string,
    { dryRun, handTo, ...options }: RequestOptions & { dryRun?: boolean; handTo?: string } = {},
  ): Call<PersonRemoved> {
    const path = `/admin/people/${encodeURIComponent(id)}`
    const query = { dryRun: dryRun ? 'true' : undefined, handTo }
    return this.#transport.json({ method: 'DELETE', path, query }, options)
  }
}
