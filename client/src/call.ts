/** What a call has brought, with the HTTP answer that brought it; its body has been read where `data` holds it. */
export interface Outcome<Data> {
  data: Data
  response: Response
  /** The `x-request-id` of the answer, by which the server's log names it. */
  requestId: string | undefined
}

/** A request under way: a promise of what it brings. */
export class Call<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #outcome: Promise<Outcome<Data>>

  constructor(outcome: Promise<Outcome<Data>>) {
    this.#outcome = outcome
  }

  /** The same with status and headers of the answer. */
  withResponse(): Promise<Outcome<Data>> {
    return this.#outcome
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then<Value = Data, Reason = never>(
    onFulfilled?: ((data: Data) => Value | PromiseLike<Value>) | null,
    onRejected?: ((error: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Value | Reason> {
    return this.#outcome.then(({ data }) => data).then(onFulfilled, onRejected)
  }

  catch<Reason = never>(
    onRejected?: ((error: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Data | Reason> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<Data> {
    return this.then().finally(onFinally)
  }
}

/** The same call with what it brings changed. */
export function mapCall<From, To>(call: Call<From>, change: (data: From) => To): Call<To> {
  const outcome = call.withResponse()
  return new Call(outcome.then(({ data, ...rest }) => ({ ...rest, data: change(data) })))
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[]
  /** Undefined on the last page. */
  nextCursor: string | undefined
  /** How many there are on all pages, where that was asked for. */
  total?: number | undefined
}

/** A list, of which no more than one page is in memory: iterate over its items, or over its pages. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Call<Page<Item>>

  constructor(read: (cursor: string | undefined) => Call<Page<Item>>) {
    this.#read = read
  }

  /** One page: the first, or the one that the `nextCursor` of another leads to. */
  page(cursor?: string): Call<Page<Item>> {
    return this.#read(cursor)
  }

  /** All pages, each asked for when the one before has been gone through. */
  async *pages(): AsyncGenerator<Page<Item>> {
    let cursor: string | undefined
    do {
      const page = await this.#read(cursor)
      yield page
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const { items } of this.pages()) yield* items
  }
}
