/** What the page of the chat says to a frame: what to show. */
export interface PreviewRequest {
  text: string
}

/** What a frame answers: its height in pixels, why it cannot show the text, or that Escape was pressed in it. */
export interface Answer {
  height?: number
  failure?: string
  hasEscaped?: boolean
}

const MOST_FAILURE = 300

/** Shows what the page that holds the frame sends, and tells that page how high it is. */
export function showWith(draw: (text: string) => Promise<void> | void): void {
  addEventListener('message', ({ source, data }: MessageEvent<PreviewRequest>) => {
    if (source !== parent || typeof data.text !== 'string') return
    const work = async () => {
      await draw(data.text)
      tellHeight()
      addEventListener('resize', tellHeight)
    }
    work().catch((error: unknown) => {
      const [line = ''] = String(Object(error).message ?? error).split('\n')
      tell({ failure: line.slice(0, MOST_FAILURE) })
    })
  })
  addEventListener('keydown', tellEscape, { capture: true })
  // A link would lead the frame away from what it shows; browsers refuse that, with a page of their own.
  for (const type of ['click', 'auxclick']) addEventListener(type, keepHere, { capture: true })
}

// The frame has an origin that nobody has, and whoever holds it is of another one.
const tell = (answer: Answer) => parent.postMessage(answer, '*')

let width = 0

/** Not again where the page has made the frame higher: what is as high as its window would never end. */
function tellHeight(): void {
  if (innerWidth === width) return
  width = innerWidth
  const { scrollHeight, clientHeight } = document.documentElement
  const { height } = document.documentElement.getBoundingClientRect()
  tell({ height: scrollHeight > clientHeight ? scrollHeight : Math.ceil(height) })
}

function tellEscape({ key, repeat, isComposing }: KeyboardEvent): void {
  if (key === 'Escape' && !repeat && !isComposing) tell({ hasEscaped: true })
}

function keepHere(event: Event): void {
  const link = event.target instanceof Element && event.target.closest('a, area')
  const isWithin = link && (link.getAttribute('href') ?? '').startsWith('#')
  if (link && !isWithin) event.preventDefault()
}
