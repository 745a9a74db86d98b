import { h, render } from 'preact'
import { Icon } from '../parts/icon.tsx'
import type { Preview } from './previews.ts'

/** A button that shows code in another form in its place. */
export function previewButton({ name, show }: Preview, code: HTMLElement): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'quiet'
  let shown: HTMLElement | undefined
  const draw = () => {
    const isShown = shown !== undefined
    code.hidden = isShown
    button.setAttribute('aria-pressed', String(isShown))
    render([h(Icon, { name: 'show' }), name], button)
  }
  button.addEventListener('click', () => {
    if (shown) {
      shown.remove()
      shown = undefined
    } else {
      shown = show()
      code.after(shown)
    }
    draw()
  })
  draw()
  return button
}
