import purify from 'dompurify'
import { pressEscape } from '../parts/escape.ts'
import type { Answer, PreviewRequest } from '../preview/frame.ts'
import { asImage, isDrawing } from './drawings.ts'
import { isDiagram, isPage } from './preview-kinds.ts'

/** In pixels. */
const [MIN_HEIGHT, MAX_HEIGHT] = [64, 640]

/** How long a diagram may be drawn. */
const DRAWING_MS = 10_000
const TOO_LONG = 'it took longer than 10 seconds'

/** Another form in which a block of code can be shown. */
export interface Preview {
  /** What the button says. */
  name: string
  show: () => HTMLElement
}

/** How code can be shown, if it can be. */
export function previewOf(language: string, code: string): Preview | undefined {
  if (isDrawing(language, code)) return { name: 'Show drawing', show: () => pictureOf(code) }
  if (isPage(language, code)) return { name: 'Preview', show: () => frameOf('html', cleaned(code)) }
  if (isDiagram(language, code)) {
    return { name: 'Show diagram', show: () => frameOf('diagram', code) }
  }
  return undefined
}

/** Without scripts and what loads by itself. The frame would let neither happen. */
const cleaned = (code: string) => purify.sanitize(code, { WHOLE_DOCUMENT: true })

/** Browsers let an image run no scripts and load nothing, whatever is in it, so that this needs no frame. */
function pictureOf(code: string): HTMLElement {
  const place = placeFor('drawing')
  const image = document.createElement('img')
  image.alt = 'Drawing'
  const address = URL.createObjectURL(new Blob([asImage(code)], { type: 'image/svg+xml' }))
  // Nobody can open it as a page of its own.
  const forget = () => URL.revokeObjectURL(address)
  image.addEventListener('load', forget)
  image.addEventListener('error', () => {
    forget()
    place.textContent = 'The browser cannot show this drawing.'
  })
  image.src = address
  place.append(image)
  return place
}

/** A page of the server without any rights, which draws what it is sent. */
function frameOf(kind: 'html' | 'diagram', text: string): HTMLElement {
  const place = placeFor('framed')
  const frame = document.createElement('iframe')
  frame.title = kind === 'html' ? 'Preview' : 'Diagram'
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.src = `/ui/preview/${kind}`
  const note = hint(kind === 'html' ? 'Nothing runs here, and nothing is loaded.' : 'Drawing')
  let timer: ReturnType<typeof setTimeout> | undefined
  const take = ({ height, failure, hasEscaped }: Answer) => {
    if (hasEscaped === true) return escapeIn(frame)
    clearTimeout(timer)
    if (typeof failure === 'string') {
      place.textContent = `The diagram cannot be drawn: ${failure}`
    } else if (typeof height === 'number' && Number.isFinite(height)) {
      frame.height = String(Math.min(Math.max(height, MIN_HEIGHT), MAX_HEIGHT))
      if (kind === 'diagram') note.remove()
    }
  }
  const listen = ({ source, data }: MessageEvent<unknown>) => {
    if (!frame.isConnected) removeEventListener('message', listen)
    else if (source === frame.contentWindow) take(Object(data))
  }
  addEventListener('message', listen)
  // It has an origin of its own, so that nothing it might load later gets any data.
  const shown: PreviewRequest = { text }
  const send = () => {
    frame.contentWindow?.postMessage(shown, '*')
    if (kind === 'diagram') timer = setTimeout(() => take({ failure: TOO_LONG }), DRAWING_MS)
  }
  frame.addEventListener('load', send, { once: true })
  place.append(frame, note)
  return place
}

/** Only somebody who is in the frame can have pressed it there. */
function escapeIn(frame: HTMLElement): void {
  if (document.activeElement === frame) pressEscape()
}

function placeFor(name: string): HTMLElement {
  const place = document.createElement('div')
  place.className = name
  return place
}

function hint(text: string): HTMLElement {
  const element = document.createElement('p')
  element.className = 'hint'
  element.textContent = text
  return element
}
