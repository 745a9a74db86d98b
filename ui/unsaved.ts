import type { ReadonlySignal } from '@preact/signals'

const drafts: ReadonlySignal<boolean>[] = []

/** Whether something would be lost with the page. */
export const hasUnsaved = (): boolean => drafts.some((isUnsaved) => isUnsaved.value)

window.addEventListener('beforeunload', (event) => {
  // The browser asks, in words of its own.
  if (hasUnsaved()) event.preventDefault()
})

/** Has the browser ask before the page is left while this is true. */
export const guardUnsaved = (isUnsaved: ReadonlySignal<boolean>): void =>
  void drafts.push(isUnsaved)
