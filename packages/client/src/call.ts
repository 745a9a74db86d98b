/** The result of a call, with its HTTP response, whose body has already been read if `data` holds it. */
export interface Outcome<Data> {
  data: Data
  status: number
  headers: Headers
  response: Response
  /** The `x-request-id` of the response, by which the server's log names the request. */
  requestId: string | undefined
}

/** A request in flight: a promise of its result. */
export class Call<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #outcome: Promise<Outcome<Data>>

  constructor(outcome: Promise<Outcome<Data>>) {
    this.#outcome = outcome
  }

  /** The result together with the response's status and headers. */
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

/** The same call with its result converted. */
export function mapCall<From, To>(call: Call<From>, change: (data: From) => To): Call<To> {
  const outcome = call.withResponse()
  return new Call(outcome.then(({ data, ...rest }) => ({ ...rest, data: change(data) })))
}

/** The same call with the body of its response as text. */
export function readText(call: Call<Response>): Call<string> {
  const outcome = call.withResponse()
  return new Call(outcome.then(async ({ data, ...rest }) => ({ ...rest, data: await data.text() })))
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[]
  /** Undefined on the last page. */
  nextCursor: string | undefined
  /** The number of items on all pages, if it was asked for. */
  total?: number | undefined
}

/**
 * A paginated list, held one page at a time: iterate over its items, or over its pages. Awaited itself, it is its
 * first page.
 */
export class Pages<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #read: (cursor: string | undefined) => Call<Page<Item>>

  constructor(read: (cursor: string | undefined) => Call<Page<Item>>) {
    this.#read = read
  }

  /** Reads one page: the first, or the one at another page's `nextCursor`. */
  page(cursor?: string): Call<Page<Item>> {
    return this.#read(cursor)
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited for its first page
  then<Value = Page<Item>, Reason = never>(
    onFulfilled?: ((page: Page<Item>) => Value | PromiseLike<Value>) | null,
    onRejected?: ((error: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Value | Reason> {
    return this.page().then(onFulfilled, onRejected)
  }

  /** The first page together with the response's status and headers. */
  withResponse(): Promise<Outcome<Page<Item>>> {
    return this.page().withResponse()
  }

  /** Iterates over all pages; each is requested when the one before has been consumed. */
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
