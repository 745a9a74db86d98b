import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface Layer {
  close: () => void
  within: RefObject<Element | null> | undefined
}

/** What Escape closes: the one that was opened last stands at the end. */
const layers: Layer[] = []

function hear(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.isComposing) return
  const layer = topmost()
  if (!layer) return
  // Else the browser would empty a field of a search, too.
  event.preventDefault()
  layer.close()
}

/** The layer that holds the focus, else the one that was opened last. */
function topmost(): Layer | undefined {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1)
  // Nothing below a dialog is reached; the browser closes the dialog itself.
  const reached = layers.filter(({ within }) => !dialog || dialog.contains(within?.current ?? null))
  const holdsFocus = ({ within }: Layer) => within?.current?.contains(document.activeElement)
  return reached.findLast(holdsFocus) ?? reached.at(-1)
}

interface Options {
  isOpen?: boolean
  /** What is closed first while it holds the focus. */
  within?: RefObject<Element | null>
  /** Only if nothing else is open. */
  isLast?: boolean
}

/** Closes or ends something with Escape; one press closes one thing. */
export function useEscape(
  close: () => void,
  { isOpen = true, within, isLast = false }: Options = {},
): void {
  const current = useRef(close)
  current.current = close
  // Before it is painted: who presses Escape at once is heard.
  useLayoutEffect(() => {
    if (!isOpen) return
    // Once for all, and before the field that the key is pressed in.
    document.addEventListener('keydown', hear, { capture: true })
    const layer = { close: () => current.current(), within }
    if (isLast) layers.unshift(layer)
    else layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [isOpen])
}
