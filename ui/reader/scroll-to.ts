/** Scrolls the panel that holds an element or, where there is none, the page: words to where eyes rest, or to their top. */
export function scrollTo(element: HTMLElement, to: 'words' | 'top' = 'words'): void {
  const panel = element.closest<HTMLElement>('.reader-body, dialog')
  if (!panel) {
    element.scrollIntoView({ block: to === 'words' ? 'center' : 'start' })
    return
  }
  const { top } = element.getBoundingClientRect()
  const above = to === 'words' ? panel.clientHeight / 3 : 0
  panel.scrollTop += top - panel.getBoundingClientRect().top - above
}
