import {
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  windowScroll,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

const OVERSCAN = 8
/** The number of rows before the end at which more are requested. */
const AHEAD = 30

/** A list of any length that scrolls with the page; only visible rows are rendered. All rows are equally high. */
export function VirtualList<Item>({
  items,
  rowHeight,
  label,
  keyOf,
  onNearEnd,
  children,
}: {
  items: readonly Item[]
  /** In pixels. */
  rowHeight: number
  label: string
  keyOf: (item: Item) => string
  onNearEnd: () => void
  children: (item: Item) => ComponentChildren
}) {
  const list = useRef<HTMLUListElement>(null)
  const virtualizer = useVirtualizer(items.length, rowHeight, list)
  const rows = virtualizer.getVirtualItems()
  const last = rows.at(-1)?.index ?? 0
  useEffect(() => {
    if (last + AHEAD >= items.length) onNearEnd()
  }, [last, items.length])

  return (
    <ul
      ref={list}
      class="virtual"
      aria-label={label}
      style={{ height: `${virtualizer.getTotalSize()}px` }}
    >
      {rows.map(({ index, start }) => {
        const item = items[index]
        return (
          item !== undefined && (
            <li
              key={keyOf(item)}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              style={{
                transform: `translateY(${start - virtualizer.options.scrollMargin}px)`,
                height: `${rowHeight}px`,
              }}
            >
              {children(item)}
            </li>
          )
        )
      })}
    </ul>
  )
}

function useVirtualizer(
  count: number,
  rowHeight: number,
  list: { current: HTMLElement | null },
): Virtualizer<Window, HTMLElement> {
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const [scrollMargin, setScrollMargin] = useState(0)
  const options = {
    count,
    scrollMargin,
    overscan: OVERSCAN,
    estimateSize: () => rowHeight,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialOffset: () => window.scrollY,
    onChange: () => draw(0),
  }
  const [virtualizer] = useState(() => new Virtualizer<Window, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => {
    virtualizer._willUpdate()
    // The content above the list may have grown.
    const top = (list.current?.getBoundingClientRect().top ?? 0) + window.scrollY
    if (Math.abs(top - scrollMargin) > 1) setScrollMargin(top)
  })
  return virtualizer
}
