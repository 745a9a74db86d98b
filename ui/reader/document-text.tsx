import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { NotFoundError } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import type { Range } from './find-words.ts'
import { renderText } from './rendered-text.ts'
import { scrollTo } from './scroll-to.ts'
import { formOf, type TextForm } from './text-form.ts'

/** Read on each side of the place that is shown, in UTF-16 code units. */
const MARGIN = 20_000

export interface Place extends Range {
  documentId: string
  /** The pages that it is on, where they are known. */
  page?: number | undefined
  pageEnd?: number | undefined
}

export interface PlaceInDocument {
  place: Place
  /** What is marked at the place, in order; without any, all of it. */
  quotes?: readonly string[] | undefined
  /** The passage as it was when it was cited. */
  cited?: string | undefined
}

/** A part of a document's text. */
interface Part {
  text: string
  /** Where it begins in the document. */
  start: number
  form: TextForm
  isAtEnd: boolean
}

/** The text of a document around a place, scrolled to it, with its quotes marked. */
export function DocumentText({ place, quotes = [], cited }: PlaceInDocument) {
  const currentPart = useSignal<Part | undefined>(undefined)
  const failure = useSignal('')
  const isGone = useSignal(false)
  const read = async (range: Range) => {
    try {
      currentPart.value = await readPart(place.documentId, range)
    } catch (error) {
      if (error instanceof NotFoundError && cited !== undefined) isGone.value = true
      else failure.value = messageOf(error)
    }
  }
  useEffect(() => void read({ start: place.start - MARGIN, end: place.end + MARGIN }), [])
  if (isGone.value && cited !== undefined) {
    return (
      <>
        <p class="note">The document no longer exists. This is the passage that was cited.</p>
        <Rendered part={asPart(cited)} ranges={[{ start: 0, end: cited.length }]} />
      </>
    )
  }
  const part = currentPart.value
  if (!part) {
    return failure.value ? (
      <ErrorNote message={failure.value} />
    ) : (
      <Status tone="busy">Opening the document</Status>
    )
  }
  const found = findPassage(part, place, cited)
  if (!found && cited !== undefined) {
    return (
      <>
        <p class="note">The document has changed since. This is the passage that was cited.</p>
        <Rendered part={asPart(cited)} ranges={[{ start: 0, end: cited.length }]} />
      </>
    )
  }
  const passage = found ?? { start: place.start - part.start, end: place.end - part.start }
  const end = part.start + part.text.length
  return (
    <>
      {part.start > 0 && (
        <Button icon="previous" onClick={() => void read({ start: part.start - MARGIN, end })}>
          Show earlier text
        </Button>
      )}
      <Rendered part={part} ranges={markedIn(part.text, passage, quotes)} />
      {!part.isAtEnd && (
        <Button icon="next" onClick={() => void read({ start: part.start, end: end + MARGIN })}>
          Show later text
        </Button>
      )}
    </>
  )
}

const asPart = (text: string): Part => ({ text, start: 0, form: 'markdown', isAtEnd: true })

function markedIn(text: string, passage: Range, quotes: readonly string[]): Range[] {
  let place = passage.start
  const ranges = quotes.flatMap((quote) => {
    const start = text.indexOf(quote, place)
    if (start === -1 || start + quote.length > passage.end) return []
    place = start + quote.length
    return [{ start, end: place }]
  })
  return ranges.length > 0 ? ranges : [passage]
}

/** Reads whole lines. */
async function readPart(id: string, { start, end }: Range): Promise<Part> {
  const from = Math.max(start, 0)
  const [document, text] = await Promise.all([
    client.documents.get(id),
    client.documents.text(id, { start: from, end }),
  ])
  const isAtEnd = from + text.length >= document.characters
  const cut = from === 0 ? 0 : text.indexOf('\n') + 1
  const last = isAtEnd ? text.length : text.lastIndexOf('\n')
  const whole = text.slice(cut, last > cut ? last : undefined)
  return { text: whole, start: from + cut, form: formOf(document), isAtEnd }
}

/** Where the passage is in a part; undefined where the document no longer has it there. */
function findPassage(
  { text, start }: Part,
  place: Range,
  cited: string | undefined,
): Range | undefined {
  const range = { start: place.start - start, end: place.end - start }
  const isSame = cited === undefined || sameWords(text.slice(range.start, range.end), cited)
  if (range.start >= 0 && isSame) return range
  const other = cited ? text.indexOf(cited) : -1
  return other === -1 ? undefined : { start: other, end: other + (cited?.length ?? 0) }
}

/** White space between the chunks of a large file may differ. */
const sameWords = (one: string, other: string) =>
  one.replaceAll(/\s+/g, ' ').trim() === other.replaceAll(/\s+/g, ' ').trim()

function Rendered({ part, ranges }: { part: Part; ranges: Range[] }) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    element.current?.replaceChildren(renderText(part.text, ranges, part.form))
    const mark = element.current?.querySelector('mark')
    if (mark) scrollTo(mark)
  }, [part])
  return <div ref={element} class="answer document-text" dir="auto" />
}
