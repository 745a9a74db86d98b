import { commentBy, oneLine } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { pathsOf, targetsOf } from './ooxml.ts'
import { localName, readXml } from './xml.ts'

/** UTF-16 code units of a comment. */
const MAX_COMMENT = 2_000
const COMMENTS = /\/comments$/

/** The names of those who wrote comments, by ID. */
export async function commentAuthors(zip: ZipArchive, main: string): Promise<Map<string, string>> {
  const authors = new Map<string, string>()
  for (const kind of ['commentAuthors', 'authors']) {
    for (const path of (await pathsOf(zip, main, kind)).values()) {
      readXml(await zip.readText(path), {
        open(qualified, { id, name }) {
          const isAuthor = /^(?:cmAuthor|author)$/.test(localName(qualified))
          if (isAuthor && id !== undefined && name !== undefined) authors.set(id, oneLine(name))
        },
      })
    }
  }
  return authors
}

/** The comments on a slide and the replies to them, in their order. */
export async function slideComments(
  zip: ZipArchive,
  slide: string,
  authors: ReadonlyMap<string, string>,
): Promise<string[]> {
  const comments: string[][] = []
  for (const { type, path } of (await targetsOf(zip, slide)).values()) {
    if (COMMENTS.test(type) && zip.has(path)) {
      comments.push(read(await zip.readText(path), authors))
    }
  }
  return comments.flat()
}

function read(xml: string, authors: ReadonlyMap<string, string>): string[] {
  const comments: string[] = []
  let author = ''
  let words = ''
  let isText = false
  const end = () => {
    const text = oneLine(words).slice(0, MAX_COMMENT)
    if (text !== '') comments.push(commentBy(author, text))
    words = ''
  }
  readXml(xml, {
    open(qualified, { authorId = '' }) {
      const name = localName(qualified)
      if (name === 'cm' || name === 'reply') {
        end()
        author = authors.get(authorId) ?? ''
      }
      isText = name === 't' || name === 'text'
      if (name === 'p') words += ' '
    },
    text(data) {
      if (isText && words.length <= MAX_COMMENT) words += data
    },
    close(qualified) {
      isText = false
      if (localName(qualified) === 'cm') end()
    },
  })
  return comments
}
