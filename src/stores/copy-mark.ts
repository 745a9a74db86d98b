import { createHash } from 'node:crypto'
import type { CopyMark, CorpusStart } from './corpus.ts'
import type { StoredDocument } from './document-store.ts'

/** What was copied is no longer the beginning of the corpus: the rest would not go with it. */
export class CorpusChanged extends Error {
  override readonly name = 'CorpusChanged'

  constructor() {
    super('The corpus has changed since the copy was begun')
  }
}

/** Of a copy of which there is nothing yet. */
export function firstMark({ embedding }: Pick<CorpusStart, 'embedding'>): CopyMark {
  const { model, dimension } = embedding ?? {}
  return { documents: 0, chunks: 0, digest: digestOf([model, dimension]) }
}

/** One document further on. A claim that ended or was given back changes `updatedAt`, as all else does. */
export function nextMark(mark: CopyMark, document: StoredDocument): CopyMark {
  const { id, revision, servedRevision, chunkCount, characters, updatedAt } = document
  return {
    documents: mark.documents + 1,
    chunks: mark.chunks + chunkCount,
    digest: digestOf([
      mark.digest,
      id,
      revision,
      servedRevision,
      chunkCount,
      characters,
      updatedAt,
    ]),
  }
}

/** What is left of a corpus behind a mark. */
export function startAfter(start: CorpusStart, { documents, chunks }: CopyMark): CorpusStart {
  return { ...start, documents: start.documents - documents, chunks: start.chunks - chunks }
}

/** Passes the documents of a mark by. Throws `CorpusChanged` where they are others. */
export async function skipCopied(
  next: () => Promise<StoredDocument | undefined>,
  start: CorpusStart,
  after: CopyMark,
): Promise<void> {
  let mark = firstMark(start)
  while (mark.documents < after.documents) {
    const document = await next()
    if (!document) throw new CorpusChanged()
    mark = nextMark(mark, document)
  }
  if (mark.digest !== after.digest) throw new CorpusChanged()
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
