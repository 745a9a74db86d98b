import type { Call } from './call.ts'

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
