import type { CorpusRecord, CorpusStart } from '../../stores/corpus.ts'
import type { KeyedVectors } from '../../stores/document-store.ts'
import {
  type BodyLine,
  FORMAT,
  FORMAT_VERSION,
  type HeaderLine,
  TEXT_PART_CHARACTERS,
} from './corpus-format.ts'

/** What the lines of a record hold, in order. */
export function* encodeRecord(record: CorpusRecord): Generator<HeaderLine | BodyLine> {
  switch (record.kind) {
    case 'start':
      return yield toHeader(record)
    case 'document': {
      const { contents, ...rest } = record
      const texts = contents.map(({ revision, text }) => ({ revision, characters: text.length }))
      const { status } = rest.document
      if (status === 'processing') throw new Error('A claim does not travel')
      yield { ...rest, document: { ...rest.document, status }, texts }
      for (const { revision, text } of contents) yield* toTextLines(revision, text)
      return
    }
    case 'chunks':
      return yield { ...record, vectors: packVectors(record.vectors) }
    case 'piece':
      return yield { ...record, bytes: Buffer.from(record.bytes).toString('base64') }
    default:
      return record satisfies never
  }
}

function toHeader({ embedding, documents, chunks, nextChunkKey }: CorpusStart): HeaderLine {
  const createdAt = new Date().toISOString()
  return {
    ...{ format: FORMAT, version: FORMAT_VERSION, createdAt },
    ...{ embedding, documents, chunks, nextChunkKey },
  }
}

function* toTextLines(revision: number, text: string): Generator<BodyLine> {
  for (let start = 0; start < text.length; start += TEXT_PART_CHARACTERS) {
    yield { kind: 'text', revision, text: text.slice(start, start + TEXT_PART_CHARACTERS) }
  }
}

function packVectors({ keys, dimension, values }: KeyedVectors) {
  const isShort = values.every((value) => Math.f16round(value) === value)
  const bytes = new DataView(new ArrayBuffer(values.length * (isShort ? 2 : 4)))
  values.forEach((value, i) => {
    if (isShort) bytes.setFloat16(i * 2, value, true)
    else bytes.setFloat32(i * 4, value, true)
  })
  return {
    keys: [...keys],
    dimension,
    bits: isShort ? (16 as const) : (32 as const),
    values: Buffer.from(bytes.buffer).toString('base64'),
  }
}
