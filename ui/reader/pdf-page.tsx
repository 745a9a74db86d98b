import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../parts/controls.tsx'
import type { IconName } from '../parts/icon.tsx'
import { Status } from '../parts/notes.tsx'
import type { Pdf } from './pdf.ts'
import { scrollTo } from './scroll-to.ts'

/** Which page is shown, and the ones beside it. */
export function PageButtons({ pages, number }: { pages: number; number: Signal<number> }) {
  return (
    <div class="row tight">
      <Turn label="Previous page" icon="previous" number={number} by={-1} pages={pages} />
      <span role="status">
        Page {number.value} of {pages}
      </span>
      <Turn label="Next page" icon="next" number={number} by={1} pages={pages} />
    </div>
  )
}

function Turn({
  label,
  icon,
  number,
  by,
  pages,
}: {
  label: string
  icon: IconName
  number: Signal<number>
  by: number
  pages: number
}) {
  const to = number.value + by
  return (
    <Button
      icon={icon}
      class="quiet"
      aria-label={label}
      disabled={to < 1 || to > pages}
      onClick={() => (number.value = to)}
    />
  )
}

/** A page of a PDF, at zoom 1 as wide as its container, scrolled to its marks. */
export function PdfPage({
  pdf,
  number,
  zoom,
  texts,
  isCited,
  onFailure,
}: {
  pdf: Pdf
  number: number
  zoom: number
  /** What is marked, if it is on this page. */
  texts: readonly string[]
  isCited: boolean
  onFailure: (error: unknown) => void
}) {
  const place = useRef<HTMLElement>(null)
  const sheet = useRef<HTMLDivElement>(null)
  const width = useWidth(place)
  const drawing = useSignal({ number: 0, marks: 0 })
  useEffect(() => {
    if (width === 0) return
    const leaving = new AbortController()
    const { signal } = leaving
    pdf.draw(number, { width: width * zoom, texts, signal }).then(
      ({ element, marks }) => {
        if (signal.aborted) return
        sheet.current?.replaceChildren(element)
        const isNew = drawing.value.number !== number
        drawing.value = { number, marks: marks.length }
        if (isNew) showOn(element, marks)
      },
      (error: unknown) => {
        if (!signal.aborted) onFailure(error)
      },
    )
    return () => leaving.abort()
  }, [pdf, number, zoom, width])
  const { number: shown, marks } = drawing.value
  return (
    <>
      {shown === 0 && <Status tone="busy">Drawing the page</Status>}
      {shown === number && isCited && marks === 0 && (
        <p class="hint">
          The cited words cannot be marked on this page, for example because it is a scan. Choose
          Text to see them.
        </p>
      )}
      <section
        ref={place}
        class="original-place"
        aria-label={`Page ${shown || number}`}
        aria-busy={shown !== number}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll what has the focus
        tabIndex={0}
      >
        <div ref={sheet} />
      </section>
    </>
  )
}

function showOn(page: HTMLElement, [mark]: readonly HTMLElement[]): void {
  if (mark) scrollTo(mark)
  // With the bar above it.
  else scrollTo(page.closest<HTMLElement>('.original') ?? page, 'top')
}

/** The width of an element in CSS pixels; 0 until it is known. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const width = useSignal(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry?.contentRect.width ?? 0)
    })
    if (element.current) observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return width.value
}
