import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import type { Hit } from '../../client/src/agent-server.ts'
import { placeOf } from '../parts/chunk-facts.tsx'
import { quotesFor } from '../reader/quotes.ts'
import { openReader } from '../reader/reader.tsx'
import { textNodes } from './markdown.ts'

const UNKNOWN =
  'The model cited a source that is not among the passages it was given. Check this statement yourself.'
/** What belongs to one statement. */
const BLOCKS = 'p, li, tr, blockquote, h3, h4, h5, h6'
const SENTENCES = new Intl.Segmenter(undefined, { granularity: 'sentence' })

interface Card {
  button: HTMLElement
  /** Absent for a source that is unknown. */
  hit: Hit | undefined
  statement: string
  left: number
  top: number
}

/** Around an answer: each of its marks opens its passage, and tells where it leads while it is pointed at or focused. */
export function Citations({
  hits,
  children,
}: {
  hits: readonly Hit[]
  children: ComponentChildren
}) {
  const card = useSignal<Card | undefined>(undefined)
  const id = useId()
  const markOf = ({ target }: Event) =>
    target instanceof Element ? target.closest<HTMLElement>('button.citation') : null
  const hitOf = (button: HTMLElement) => hits[Number(button.dataset.hit)]
  const show = (event: Event) => {
    const button = markOf(event)
    if (!button || card.value?.button === button) return
    hide()
    button.setAttribute('aria-describedby', id)
    const { left, bottom } = button.getBoundingClientRect()
    const around = (event.currentTarget as HTMLElement).getBoundingClientRect()
    card.value = {
      button,
      hit: hitOf(button),
      statement: statementBefore(button),
      left: left - around.left,
      top: bottom - around.top,
    }
  }
  const hide = () => {
    card.value?.button.removeAttribute('aria-describedby')
    card.value = undefined
  }
  const open = (event: Event) => {
    const button = markOf(event)
    const hit = button && hitOf(button)
    if (!button || !hit) return
    hide()
    openReader({ hit, statement: statementBefore(button) })
  }
  // An answer that is drawn anew has other marks.
  useEffect(hide, [hits])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its marks are buttons, which are not drawn by Preact
    <div
      class="cited"
      onClick={open}
      onKeyDown={({ key }) => {
        if (key === 'Escape') hide()
      }}
      onPointerOver={show}
      onFocusIn={show}
      onFocusOut={hide}
      onPointerLeave={hide}
    >
      {children}
      {card.value && <CitationCard id={id} card={card.value} />}
    </div>
  )
}

function CitationCard({ id, card: { hit, statement, left, top } }: { id: string; card: Card }) {
  const style = `--left: ${Math.round(left)}px; --top: ${Math.round(top)}px`
  if (!hit) {
    return (
      <div id={id} role="tooltip" class="citation-card" style={style}>
        <p>{UNKNOWN}</p>
      </div>
    )
  }
  const quotes = quotesFor(statement, hit.text)
  const quoted = quotes.map(({ start, end }) => hit.text.slice(start, end)).join(' … ')
  const place = placeOf(hit)
  return (
    <div id={id} role="tooltip" class="citation-card" style={style}>
      <p>
        <strong>{hit.title || hit.documentId}</strong>
        {place && <span class="hint"> {place}</span>}
      </p>
      <p class="quoted">{quoted || hit.text}</p>
    </div>
  )
}

/** What a mark stands behind: the sentence of its block that ends there, without other marks. */
function statementBefore(mark: HTMLElement): string {
  const block = mark.closest(BLOCKS)
  if (!block) return ''
  if (block.tagName === 'TR') return wordsIn(block, undefined)
  const sentences = Array.from(SENTENCES.segment(wordsIn(block, mark)))
  return sentences.findLast(({ segment }) => /[\p{L}\p{N}]/u.test(segment))?.segment ?? ''
}

/** The text of an element up to another within it, without marks. */
function wordsIn(element: Element, until: Element | undefined): string {
  const nodes = textNodes(element)
  const end = nodes.findIndex((node) => until?.contains(node))
  return nodes
    .slice(0, end === -1 ? undefined : end)
    .filter((node) => !node.parentElement?.closest('.citation'))
    .map((node) => node.data)
    .join('')
}
