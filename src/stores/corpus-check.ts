import type { CorpusChunks, CorpusDocument, CorpusRecord, CorpusStart } from './corpus.ts'

/** Passes records on as they are. Throws as soon as one is missing or does not belong where it stands. */
export async function* checkedCorpus(
  records: AsyncIterable<CorpusRecord>,
  signal: AbortSignal,
): AsyncGenerator<CorpusRecord> {
  const check = createCheck()
  for await (const record of records) {
    signal.throwIfAborted()
    check.next(record)
    yield record
  }
  check.end()
}

function createCheck() {
  let start: CorpusStart | undefined
  let current: CorpusDocument | undefined
  let documents = 0
  let chunks = 0
  let chunksOfCurrent = 0

  const endDocument = () => {
    const expected = current?.document.chunkCount ?? 0
    if (chunksOfCurrent === expected) return
    throw new Error(
      `The document ${current?.document.id} has ${chunksOfCurrent} passages instead of ${expected}`,
    )
  }
  const begin = (record: CorpusStart) => {
    if (start) throw new Error('The corpus begins twice')
    start = record
  }
  const beginDocument = (record: CorpusDocument) => {
    endDocument()
    current = record
    chunksOfCurrent = 0
    documents++
  }

  const addChunks = ({ chunks: added, vectors }: CorpusChunks, { embedding }: CorpusStart) => {
    if (vectors.keys.length > 0 && vectors.dimension !== embedding?.dimension) {
      throw new Error(
        `Vectors of ${vectors.dimension} numbers do not go with ${embedding?.model ?? 'no model'}`,
      )
    }
    chunks += added.length
    chunksOfCurrent += added.length
  }

  return {
    next(record: CorpusRecord): void {
      if (record.kind === 'start') begin(record)
      else if (!start) throw new Error('The corpus does not begin with its start')
      else if (record.kind === 'document') beginDocument(record)
      else if (!current) throw new Error('The corpus has a part of a document before the first')
      else if (record.kind === 'chunks') addChunks(record, start)
    },
    end(): void {
      endDocument()
      if (start && documents === start.documents && chunks === start.chunks) return
      throw new Error(
        `The corpus has ${documents} documents with ${chunks} passages instead of ${start?.documents} with ${start?.chunks}`,
      )
    },
  }
}
