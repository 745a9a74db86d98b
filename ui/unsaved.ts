import type { ReadonlySignal } from '@preact/signals'

const drafts: ReadonlySignal<boolean>[] = []

window.addEventListener('beforeunload', (event) => {
  // The browser asks, in words of its own.
  if (drafts.some((isUnsaved) => isUnsaved.value)) event.preventDefault()
})

/** Whether something would be lost with the page. */
export const hasUnsaved = (): boolean => drafts.some((isUnsaved) => isUnsaved.value)

/** Has the browser ask before the page is left while this is true. */
export const guardUnsaved = (isUnsaved: ReadonlySignal<boolean>): void =>
  void drafts.push(isUnsaved)
