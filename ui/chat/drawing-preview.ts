import { h, render } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { asImage } from './drawings.ts'

const FAILED = 'The browser cannot show this drawing.'

/**
 * A button that shows a drawing in place of its code. Browsers let an image run no scripts and load nothing, whatever is
 * in it, so that this needs no frame.
 */
export function drawingButton(text: string, code: HTMLElement): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'quiet'
  let shown: HTMLElement | undefined
  const draw = () => {
    const isShown = shown !== undefined
    code.hidden = isShown
    button.setAttribute('aria-pressed', String(isShown))
    render([h(Icon, { name: 'show' }), 'Show drawing'], button)
  }
  button.addEventListener('click', () => {
    if (shown) {
      shown.remove()
      shown = undefined
    } else {
      shown = pictureOf(text)
      code.after(shown)
    }
    draw()
  })
  draw()
  return button
}

function pictureOf(text: string): HTMLElement {
  const place = document.createElement('div')
  place.className = 'drawing'
  const image = document.createElement('img')
  image.alt = 'Drawing'
  const address = URL.createObjectURL(new Blob([asImage(text)], { type: 'image/svg+xml' }))
  // Nobody can open it as a page of its own.
  const forget = () => URL.revokeObjectURL(address)
  image.addEventListener('load', forget)
  image.addEventListener('error', () => {
    forget()
    place.textContent = FAILED
  })
  image.src = address
  place.append(image)
  return place
}
