import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Chunk, Hit } from '../../client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { href } from '../route.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './notes.tsx'

/** Pages of a hundred chunks that are gone through to find one. */
const MAX_PAGES = 50

type Place = Pick<Hit, 'heading' | 'page' | 'pageEnd' | 'sheet' | 'row'>

/** Where in its document a chunk stands. */
export function ChunkFacts({ chunk }: { chunk: Place }) {
  const { heading, page, pageEnd, sheet, row } = chunk
  const facts = [
    heading,
    page !== undefined &&
      (pageEnd && pageEnd !== page ? `pages ${page}–${pageEnd}` : `page ${page}`),
    sheet && `sheet ${sheet}`,
    row !== undefined && `row ${row}`,
  ].filter(Boolean)
  return facts.length > 0 ? <p class="hint">{facts.join(' · ')}</p> : null
}

/** A hit within its document: the chunks before and after it, and itself marked. */
export function ChunkDialog({ hit, onClose }: { hit: Hit; onClose: () => void }) {
  const around = useSignal<readonly Chunk[] | undefined>(undefined)
  const failure = useSignal('')
  useEffect(() => {
    chunksAround(hit).then(
      (found) => {
        around.value = found
      },
      (error: unknown) => {
        failure.value = messageOf(error)
      },
    )
  }, [])
  const isOwn = ({ start, end }: Chunk) => start < hit.end && end > hit.start
  return (
    <Dialog title={hit.title || hit.documentId} onClose={onClose} wide>
      <ChunkFacts chunk={hit} />
      <ErrorNote message={failure.value} />
      <div class="context">
        {around.value === undefined || !around.value.some(isOwn) ? (
          <p class="chunk-text">
            <mark>{hit.text}</mark>
          </p>
        ) : (
          around.value.map((chunk) => (
            <p key={chunk.id} class="chunk-text">
              {isOwn(chunk) ? <mark>{chunk.text}</mark> : chunk.text}
            </p>
          ))
        )}
      </div>
      <div class="dialog-foot">
        <a class="button" href={href('documents', hit.documentId)} onClick={onClose}>
          Open document
        </a>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** The chunks that the hit covers, with one before and one after. */
async function chunksAround({ documentId, start, end }: Hit): Promise<Chunk[]> {
  const read: Chunk[] = []
  let pages = 0
  for await (const { items } of client.documents.chunks(documentId).pages()) {
    read.push(...items)
    pages += 1
    if (pages === MAX_PAGES || items.some((chunk) => chunk.start >= end)) break
  }
  const first = read.findIndex((chunk) => chunk.end > start)
  const after = read.findIndex((chunk) => chunk.start >= end)
  return read.slice(Math.max(first - 1, 0), after === -1 ? read.length : after + 1)
}
