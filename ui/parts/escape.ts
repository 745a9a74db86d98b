import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface Layer extends Pick<Options, 'within' | 'isOnlyWithin' | 'isLast'> {
  close: () => void
}

/** What Escape closes: the one that was opened last stands at the end. */
const layers: Layer[] = []

function hear(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.isComposing) return
  // Held down, it is one press. And the browser would empty a field of a search, too.
  if (event.repeat || pressEscape()) event.preventDefault()
}

/** Closes or ends one thing; returns whether there was one. */
export function pressEscape(): boolean {
  const layer = topmost()
  layer?.close()
  return layer !== undefined
}

/** The layer that holds the focus, else the one that was opened last. */
function topmost(): Layer | undefined {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1)
  const holdsFocus = ({ within }: Layer) => within?.current?.contains(document.activeElement)
  // Nothing below a dialog is reached; the browser closes the dialog itself.
  const reached = layers.filter(
    (layer) =>
      (!dialog || dialog.contains(layer.within?.current ?? null)) &&
      (!layer.isOnlyWithin || holdsFocus(layer)),
  )
  return reached.findLast((layer) => !layer.isLast && holdsFocus(layer)) ?? reached.at(-1)
}

interface Options {
  isOpen?: boolean
  /** What is closed first while it holds the focus. */
  within?: RefObject<Element | null> | undefined
  /** Only while that holds the focus. */
  isOnlyWithin?: boolean
  /** Only if nothing else is open. */
  isLast?: boolean
}

/** Closes or ends something with Escape; one press closes one thing. */
export function useEscape(
  close: () => void,
  { isOpen = true, within, isOnlyWithin = false, isLast = false }: Options = {},
): void {
  const current = useRef(close)
  current.current = close
  // Before it is painted: who presses Escape at once is heard.
  useLayoutEffect(() => {
    if (!isOpen) return
    // Once for all, and before the field that the key is pressed in.
    document.addEventListener('keydown', hear, { capture: true })
    const layer = { close: () => current.current(), within, isOnlyWithin, isLast }
    if (isLast) layers.unshift(layer)
    else layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [isOpen])
}
