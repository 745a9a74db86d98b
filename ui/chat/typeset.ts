import temml from 'temml'

/** Definitions of macros: a short formula could become one that takes a minute to draw. */
const DEFINITION = /\\(?:[egx]?def|let|futurelet|(?:new|renew|provide)command)(?![a-zA-Z])/
/** Expansions of the built-in macros. */
const MAX_EXPANSIONS = 1_000
/** Size of spaces and rules, in em and in pt. */
const MAX_SIZE: [number, number] = [20, 300]
const MAX_KEPT = 500

/** What was drawn before: while an answer grows, all of it is drawn again and again. */
const cache = new Map<string, Node | undefined>()

/** A formula, with what encloses it, as MathML; undefined if it is no LaTeX, or asks for more than a formula may. */
export function typeset(source: string): Node | undefined {
  if (!cache.has(source)) {
    if (cache.size >= MAX_KEPT) cache.clear()
    cache.set(source, draw(source))
  }
  return cache.get(source)?.cloneNode(true)
}

function draw(source: string): Node | undefined {
  if (DEFINITION.test(source)) return undefined
  const width = source.startsWith('$') && !source.startsWith('$$') ? 1 : 2
  const place = document.createElement('span')
  try {
    temml.render(source.slice(width, -width), place, {
      displayMode: /^(?:\$\$|\\\[)/.test(source),
      wrap: 'tex',
      throwOnError: true,
      // No links, pictures, classes or styles.
      trust: false,
      maxExpand: MAX_EXPANSIONS,
      maxSize: MAX_SIZE,
    })
  } catch {
    return undefined
  }
  return place.firstChild ?? undefined
}
