import purify from 'dompurify'
import { LANGUAGES } from './code-languages.ts'
import { createLoader } from './loader.ts'

/** Longer code stays as it is. */
const MAX_CODE = 20_000
const MAX_KEPT = 200

type Colour = typeof import('./code-colours.ts').colour

const withColours = createLoader(() => import('./code-colours.ts'))
/** What was coloured before: while an answer grows, all of it is drawn again and again. */
const cache = new Map<string, DocumentFragment>()

/** Colours the code within whose language is known, as soon as what colours it is loaded. */
export function highlightCode(root: ParentNode): void {
  const codes = Array.from(root.querySelectorAll('code[class]')).filter(isColoured)
  if (codes.length === 0) return
  withColours(({ colour }) => {
    for (const code of codes) code.replaceChildren(coloured(code, colour))
  })
}

function isColoured({ className, textContent }: Element): boolean {
  return LANGUAGES.has(languageOf(className)) && (textContent ?? '').length <= MAX_CODE
}

const languageOf = (className: string) => className.replace(/^language-/, '').toLowerCase()

function coloured({ className, textContent }: Element, colour: Colour): Node {
  const code = textContent ?? ''
  const key = `${className} ${code}`
  let nodes = cache.get(key)
  if (!nodes) {
    nodes = purify.sanitize(colour(code, languageOf(className)), {
      ALLOWED_TAGS: ['span'],
      ALLOWED_ATTR: ['class'],
      RETURN_DOM_FRAGMENT: true,
    })
    if (cache.size >= MAX_KEPT) cache.clear()
    cache.set(key, nodes)
  }
  return nodes.cloneNode(true)
}
