/** The pages of a list, each read with the cursor of the one before; ends early if `read` returns none. */
export async function* pagesOf<Page extends { nextCursor?: string | undefined }>(
  read: (cursor: string | undefined) => Promise<Page | undefined>,
): AsyncGenerator<Page> {
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    if (!page) return
    yield page
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
