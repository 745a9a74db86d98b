import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Citation, Hit } from '../../packages/client/src/agent-server.ts'
import { ChunkFacts, ChunkText } from '../parts/chunk-facts.tsx'
import { Button } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useEscape } from '../parts/escape.ts'
import { Icon } from '../parts/icon.tsx'
import { documentAddress } from '../route.ts'
import { onSignOut } from '../session.ts'
import { DocumentView } from './document-view.tsx'
import { ReaderEdge } from './reader-edge.tsx'

/** An open passage, and the statement that cites it. */
export interface Cited {
  hit: Hit
  /** The sentences that carry the statement; without any, all of the passage is marked. */
  quotes: Citation['quotes']
}

/** What is open beside the chat. */
export const reading = signal<Cited | undefined>(undefined)
onSignOut(leaveReader)

/** Where the reader covers the chat: the width of reader.css. */
const coversChat = () => matchMedia('(max-width: 66rem)').matches

let opener: HTMLElement | undefined
/** An element that stays where it is in the window while the text beside the reader becomes narrower or wider. */
let anchor: { element: Element; top: number } | undefined

/** Opens a passage beside the chat; closing it gives the focus back to its opener. */
export function openReader(cited: Cited, from: HTMLElement): void {
  markOpener(undefined)
  markOpener(from)
  holdPlace()
  // Back closes what covers the chat, not the chat.
  if (coversChat() && reading.value === undefined) history.pushState({ isReading: true }, '')
  reading.value = cited
}

/** Closes the reader at its button, and takes its step out of the history. */
function closeReader(): void {
  leaveReader()
  if (history.state?.isReading) history.back()
}

export const isInReader = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('.reader') !== null

/** Closes the reader where the address changes anyway. */
export function leaveReader(): void {
  if (reading.value === undefined) return
  holdPlace()
  reading.value = undefined
  // Not from where somebody writes meanwhile.
  if (document.activeElement === document.body || isInReader(document.activeElement)) {
    opener?.focus({ preventScroll: true })
  }
  markOpener(undefined)
}

window.addEventListener('popstate', () => {
  if (!history.state?.isReading) {
    if (coversChat()) leaveReader()
  } else if (reading.value === undefined) {
    // The step of a reader that is closed by now.
    history.back()
  }
})

/** The citation whose passage is open looks so. */
function markOpener(element: HTMLElement | undefined): void {
  opener?.removeAttribute('aria-current')
  element?.setAttribute('aria-current', 'true')
  opener = element
}

/** Remembers where the opener is, or what is in the middle of the window if the opener is not in view. */
function holdPlace(): void {
  const { innerHeight } = window
  // An element that was replaced meanwhile has no height.
  const isInView = (element: Element) => {
    const { top, height } = element.getBoundingClientRect()
    return height > 0 && top >= 0 && top < innerHeight
  }
  const turns = [...document.querySelectorAll('.turn')]
  const isMiddle = (turn: Element) => turn.getBoundingClientRect().bottom > innerHeight / 2
  const element = opener && isInView(opener) ? opener : turns.find(isMiddle)
  anchor = element && { element, top: element.getBoundingClientRect().top }
}

/** Scrolls the page so that what was held is where it was; for the layout effect after the reader opens or closes. */
export function keepPlace(): void {
  if (anchor) scrollBy(0, anchor.element.getBoundingClientRect().top - anchor.top)
  anchor = undefined
}

/** The document beside the chat, at the cited place. */
export function Reader({ hit, quotes }: Cited) {
  const element = useRef<HTMLElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [])
  useEscape(closeReader, { within: element })
  return (
    <aside ref={element} class="reader" aria-labelledby="reader-title">
      <ReaderEdge />
      <div class="reader-head">
        <h2 ref={heading} id="reader-title" tabIndex={-1} dir="auto">
          {titleOf(hit)}
        </h2>
        <ChunkFacts chunk={hit} quotes={quotes} />
        <div class="row tight">
          <a class="button quiet" href={documentAddress(hit.documentId, ...placesOf(hit, quotes))}>
            <Icon name="open" />
            Open document
          </a>
        </div>
        <Button
          icon="cancel"
          class="quiet icon-only close"
          aria-label="Close"
          onClick={closeReader}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll what has the focus */}
      <section class="reader-body" aria-label="Content of the document" tabIndex={0}>
        <InDocument hit={hit} quotes={quotes} />
      </section>
    </aside>
  )
}

/** The document at the passage. A description of a picture stands above it, as it is none of its text. */
function InDocument({ hit, quotes }: Cited) {
  if (!hit.pictureDescription) {
    return <DocumentView place={hit} cited={hit.text} quotes={quotes.map(({ text }) => text)} />
  }
  return (
    <>
      <div class="note">
        <ChunkText text={hit.text} />
      </div>
      <DocumentView place={hit} />
    </>
  )
}

/** The rows of tables have no places of their own. */
function placesOf(hit: Hit, quotes: Citation['quotes']) {
  const places = quotes.flatMap(({ start, end }) =>
    start === undefined || end === undefined ? [] : [{ start, end }],
  )
  return places.length > 0 ? places : [hit]
}

/** The same in a dialog, for a hit of a search. */
export function ReaderDialog({ hit, quotes, onClose }: Cited & { onClose: () => void }) {
  return (
    <Dialog title={titleOf(hit)} onClose={onClose} wide>
      <ChunkFacts chunk={hit} quotes={quotes} />
      <InDocument hit={hit} quotes={quotes} />
      <div class="dialog-foot">
        <a
          class="button"
          href={documentAddress(hit.documentId, ...placesOf(hit, quotes))}
          onClick={onClose}
        >
          <Icon name="open" />
          Open document
        </a>
      </div>
    </Dialog>
  )
}

/** A passage without words is one that is withheld. */
export const titleOf = ({ title, text, documentId }: Hit): string =>
  title || (text === '' ? 'A document that you cannot read' : documentId)
