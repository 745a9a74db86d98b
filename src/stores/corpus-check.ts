import type { CorpusDocument, CorpusRecord, CorpusStart } from './corpus.ts'

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

  return {
    next(record: CorpusRecord): void {
      if (record.kind === 'start') return begin(record)
      if (!start) throw new Error('The corpus does not begin with its start')
      if (record.kind === 'document') return beginDocument(record)
      const { dimension, keys } = record.vectors
      if (keys.length > 0 && dimension !== start.embedding?.dimension) {
        throw new Error(`Vectors of ${dimension} numbers do not go with ${start.embedding?.model}`)
      }
      chunks += record.chunks.length
      chunksOfCurrent += record.chunks.length
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
