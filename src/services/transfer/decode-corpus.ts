import type { CorpusDocument, CorpusRecord } from '../../stores/corpus.ts'
import type { KeyedVectors } from '../../stores/document-store.ts'
import type { ReadLine } from './corpus-format.ts'

type Texts = { revision: number; characters: number; parts: string[] }[]

/** Puts records together again from the lines after the header. Throws where a line does not belong. */
export function createRecordDecoder() {
  let waiting: { record: CorpusDocument; texts: Texts } | undefined

  const takeDocument = function* (): Generator<CorpusRecord> {
    if (!waiting) return
    const { record, texts } = waiting
    waiting = undefined
    for (const { revision, characters, parts } of texts) {
      const text = parts.join('')
      if (text.length === characters) record.contents.push({ revision, text })
      else throw new Error(`The text of the document ${record.document.id} is not whole`)
    }
    yield record
  }
  const addText = (revision: number, text: string) => {
    const found = waiting?.texts.find((each) => each.revision === revision)
    if (!found) throw new Error('There is a text that belongs to no document')
    found.parts.push(text)
  }

  return {
    *next(line: ReadLine): Generator<CorpusRecord> {
      if (line.kind === 'text') return addText(line.revision, line.text)
      yield* takeDocument()
      if (line.kind === 'chunks') yield { ...line, vectors: unpackVectors(line.vectors) }
      else if (line.kind === 'piece') yield { ...line, bytes: Buffer.from(line.bytes, 'base64') }
      else {
        const { texts, ...record } = line
        waiting = {
          record: { ...record, contents: [] },
          texts: texts.map((text) => ({ ...text, parts: [] })),
        }
      }
    },
    /** What is left after the last line. */
    end: takeDocument,
  }
}

type PackedVectors = Extract<ReadLine, { kind: 'chunks' }>['vectors']

function unpackVectors({ keys, dimension, bits, values }: PackedVectors): KeyedVectors {
  const bytes = Buffer.from(values, 'base64')
  const length = keys.length * dimension
  if (bytes.length !== (length * bits) / 8) throw new Error('The vectors are not whole')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const unpacked = new Float32Array(length)
  for (let i = 0; i < length; i++) {
    unpacked[i] = bits === 16 ? view.getFloat16(i * 2, true) : view.getFloat32(i * 4, true)
  }
  return { keys: Uint32Array.from(keys), dimension, values: unpacked }
}
