import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Citation, Hit } from '../../packages/client/src/agent-server.ts'
import { placeOf } from '../parts/chunk-facts.tsx'
import { useEscape } from '../parts/escape.ts'
import { isInReader, openReader, titleOf } from '../reader/reader.tsx'
import { renderMarkdown } from './markdown.ts'

const UNKNOWN =
  'The model cited a source that is not among the passages it was given. Check this statement yourself.'
const BY_SERVER = 'Cited by the server, not by a model.'
const UNSUPPORTED =
  'The passage may not support this statement: words, a number or a name are missing from it. Compare the two yourself.'

const CONTRADICTED = 'The passage says otherwise, says the model'
const NOT_SAID = 'The passage does not say this, says the model.'

interface Card {
  button: HTMLElement
  /** Absent for a source that is unknown. */
  hit: Hit | undefined
  /** Absent until the answer has ended. */
  citation: Citation | undefined
  left: number
  top: number
}

/** Around an answer: each of its marks opens its passage, and tells where it leads while it is pointed at or focused. */
export function Citations({
  hits,
  citations,
  children,
}: {
  hits: readonly Hit[]
  citations: readonly Citation[]
  children: ComponentChildren
}) {
  const element = useRef<HTMLDivElement>(null)
  const card = useSignal<Card | undefined>(undefined)
  const id = useId()
  const markOf = ({ target }: Event) =>
    target instanceof Element ? target.closest<HTMLElement>('button.citation') : null
  const hitOf = (button: HTMLElement) => hits[Number(button.dataset.hit)]
  const citationOf = (button: HTMLElement) => citations[marksIn(element.current).indexOf(button)]
  const show = (event: Event) => {
    const button = markOf(event)
    if (!button || card.value?.button === button) return
    // Whoever comes back from the reader has seen more than the card tells, which would cover what is below it.
    if (event instanceof FocusEvent && isInReader(event.relatedTarget)) return
    hide()
    button.setAttribute('aria-describedby', id)
    const { left, bottom } = button.getBoundingClientRect()
    const around = (event.currentTarget as HTMLElement).getBoundingClientRect()
    card.value = {
      button,
      hit: hitOf(button),
      citation: citationOf(button),
      left: left - around.left,
      top: bottom - around.top,
    }
  }
  const hide = () => {
    card.value?.button.removeAttribute('aria-describedby')
    card.value = undefined
  }
  useEscape(hide, { isOpen: card.value !== undefined, within: element })
  const open = (event: Event) => {
    const button = markOf(event)
    const hit = button && hitOf(button)
    if (!button || !hit) return
    hide()
    openReader({ hit, quotes: citationOf(button)?.quotes ?? [] }, button)
  }
  // An answer that is rendered again has other marks.
  useEffect(hide, [hits])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its marks are buttons, which are not drawn by Preact
    // biome-ignore lint/a11y/useKeyWithClickEvents: a button hears its keys itself
    <div
      ref={element}
      class="cited"
      onClick={open}
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

/** Marks the citations of a drawn answer whose passages do not carry their statements, or say otherwise. */
export function markUnsupported(answer: HTMLElement, citations: readonly Citation[]): void {
  for (const [place, mark] of marksIn(answer).entries()) {
    const { supported, verdict } = citations[place] ?? {}
    mark.classList.toggle('contradicted', verdict === 'contradicted')
    mark.classList.toggle('unsupported', supported === false && verdict !== 'contradicted')
  }
}

function doubtOf({ supported, verdict, evidence }: Citation): string | undefined {
  if (verdict === 'contradicted')
    return evidence ? `${CONTRADICTED}: “${evidence}”` : `${CONTRADICTED}.`
  if (verdict === 'not_said') return NOT_SAID
  return supported === false ? UNSUPPORTED : undefined
}

/** The words of Markdown. */
function plainText(text: string): string {
  const rendered = renderMarkdown(text, 0)
  for (const head of rendered.querySelectorAll('figcaption')) head.remove()
  return rendered.textContent.trim()
}

/** In the order of `citations`. */
function marksIn(element: HTMLElement | null): Element[] {
  return Array.from(element?.querySelectorAll('button.citation[data-hit]') ?? [])
}

function CitationCard({ id, card: { hit, citation, left, top } }: { id: string; card: Card }) {
  const style = `--left: ${Math.round(left)}px; --top: ${Math.round(top)}px`
  if (!hit) {
    return (
      <div id={id} role="tooltip" class="citation-card" style={style}>
        <p>{UNKNOWN}</p>
      </div>
    )
  }
  const quoted = citation?.quotes.map(({ text }) => plainText(text)).join(' … ')
  const place = placeOf(hit, citation?.quotes)
  const doubt = citation && doubtOf(citation)
  return (
    <div id={id} role="tooltip" class="citation-card" style={style}>
      <p>
        <strong dir="auto">{titleOf(hit)}</strong>
        {place && <span class="hint"> {place}</span>}
      </p>
      <p class="quoted" dir="auto">
        {quoted || plainText(hit.text)}
      </p>
      {citation?.by === 'server' && <p class="hint">{BY_SERVER}</p>}
      {doubt && (
        <p class="doubt" dir="auto">
          {doubt}
        </p>
      )}
    </div>
  )
}
