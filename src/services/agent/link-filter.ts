import type { Citations } from './citations.ts'
import {
  as,
  createBlock,
  fenceLine,
  inlineCode,
  MAX_LOOKED_AT,
  type Scan,
  type Step,
  waits,
} from './safe-code.ts'

/** Which links and images an answer may contain: see `links` in the agent configuration. */
export type LinkPolicy = 'no-images' | 'known' | 'all'

export type LinkFilter = ReturnType<typeof createLinkFilter>

/** Characters at which something to be examined may begin. */
const IMAGES = /[!<`~\n\\]/g
const LINKS = /[!<`~\n\\\]hHfFwW]/g

/**
 * Filters a streamed Markdown answer so that nothing is loaded from elsewhere: an image becomes a plain link, an HTML
 * tag with attributes becomes text. With `known`, links to unknown hosts become text as well. The output does not
 * depend on how the text is split into pieces. Code that every renderer recognises as code is left unchanged.
 */
export function createLinkFilter(policy: LinkPolicy, isKnown: (host: string) => boolean) {
  const trigger = policy === 'known' ? LINKS : IMAGES
  const mayOpen = policy === 'known' ? (url: string) => isSafe(url, isKnown) : () => true
  const block = createBlock()
  let held = ''

  const step = (scan: Scan): Step => {
    const line = fenceLine(scan)
    if (line !== 'none') return line
    trigger.lastIndex = 0
    const at = trigger.exec(scan.text)?.index ?? scan.text.length
    return at > 0 ? as(scan.text.slice(0, at)) : special(scan)
  }

  const take = (piece: string, isLast: boolean): string => {
    let shown = ''
    held += piece
    while (held !== '') {
      const text = held.slice(0, MAX_LOOKED_AT)
      const next = step({ text, block, isLast: isLast && text === held, mayOpen })
      if (!next) break
      block.passed(next.shown)
      shown += next.shown
      held = held.slice(next.taken)
    }
    return shown
  }

  return {
    /** Takes the next piece; returns what can be shown now. */
    write: (piece: string): string => (policy === 'all' ? piece : take(piece, false)),
    /** Ends a text and returns the rest of it; another text may follow. */
    end: (): string => take('', true),
  }
}

function special(scan: Scan): Step {
  const { text } = scan
  switch (text[0] ?? '') {
    case '\\':
      return text.length === 1 && waits(scan) ? undefined : as(text.slice(0, 2))
    case '!':
      return image(scan)
    case '<':
      return tag(scan)
    case '`':
      return inlineCode(scan)
    case ']':
      return target(scan)
    case '\n':
    case '~':
      return as(text.slice(0, 1))
    default:
      return address(scan)
  }
}

/** An image of this server. */
const OWN_IMAGE = /^!\[[^[\]\n]*\]\(\/(?!\/)[\w.~-]+(?:\/[\w.~-]+)*\)/

function image(scan: Scan): Step {
  const { text, block } = scan
  if (text.length === 1 && waits(scan)) return undefined
  if (text[1] !== '[') return as('!')
  if (!/[)\n]/.test(text) && waits(scan)) return undefined
  const [own] = OWN_IMAGE.exec(text) ?? []
  if (own !== undefined) return as(own)
  // A preceding exclamation mark would make it an image again.
  return { taken: 2, shown: block.last === '!' ? ' [' : '[' }
}

const PLAIN_TAG = /^<\/?[A-Za-z][A-Za-z0-9-]*[ \t]*\/?>$/
/** Tags that run code or swallow the text after them, even without attributes. */
const ACTIVE_TAG =
  /^<\/?(?:script|style|pre|textarea|title|xmp|iframe|noembed|noframes|plaintext|svg|math)\b/i
const AUTOLINK = /^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>`]*|[\w.+-]+@[\w.-]+)>$/

function tag(scan: Scan): Step {
  const { text, block, mayOpen } = scan
  if (text.length === 1 && waits(scan)) return undefined
  if (!/^<[A-Za-z/!?]/.test(text)) return as('<')
  const end = text.slice(1).search(/[<>\n]/) + 1
  if (end === 0 && waits(scan)) return undefined
  const whole = text.slice(0, end + 1)
  if (PLAIN_TAG.test(whole) && !ACTIVE_TAG.test(whole)) {
    block.hasTag = true
    return as(whole)
  }
  const [, url] = AUTOLINK.exec(whole) ?? []
  const isMail = /^[\w.+-]+@/.test(url ?? '')
  return url !== undefined && (isMail || mayOpen(url)) ? as(whole) : { taken: 1, shown: '&lt;' }
}

/** `](…)` and `]: …`. */
function target(scan: Scan): Step {
  const { text, mayOpen } = scan
  const after = text[1]
  if (after === undefined && waits(scan)) return undefined
  if (after !== '(' && after !== ':') return as(']')
  const rest = text.slice(2)
  const end = rest.search(after === '(' ? /[)\n]/ : /(?<=\S)\s/)
  if (end === -1 && waits(scan)) return undefined
  const whole = end === -1 ? rest : rest.slice(0, end)
  // A target on the next line is not examined.
  const isHere = after === ':' || rest[end] === ')'
  if (isHere && mayOpen(withoutPointers(whole))) return as(`]${after}${whole}`)
  return { taken: 2, shown: `] ${after}` }
}

/** The address in a link target, without angle brackets and title. */
function withoutPointers(target: string): string {
  const [, pointed, plain = ''] = /^\s*(?:<([^<>]*)|(\S*))/.exec(target) ?? []
  return pointed ?? plain
}

const ADDRESS_STARTS = ['https://', 'http://', 'ftp://', 'www.']
const ADDRESS = /^(?:https?:\/\/|ftp:\/\/|www\.)[^\s<>`"|\\^{}[\]]*/i
const AFTER_ADDRESS = /[.,;:!?)'*_~]+$/

function address(scan: Scan): Step {
  const { text, block, mayOpen } = scan
  const isBegun = ADDRESS_STARTS.some((start) => start.startsWith(text.toLowerCase()))
  if (isBegun && waits(scan)) return undefined
  const [url] = ADDRESS.exec(text) ?? []
  if (url === undefined || /[\p{L}\p{N}]/u.test(block.last)) return as(text.slice(0, 1))
  if (url.length === text.length && waits(scan)) return undefined
  const named = url.replace(AFTER_ADDRESS, '')
  if (mayOpen(named.replace(/^www\./i, 'https://www.'))) return as(named)
  const quote = '`'.repeat(block.openRun + 1)
  return { taken: named.length, shown: quote + named + quote }
}

/** An address on this server, or an anchor in the text. */
const OWN_TARGET = /^(?!.*\/\/)[\w.~/-]*(?:#[\w-]*)?$/

function isSafe(url: string, isKnown: (host: string) => boolean): boolean {
  if (OWN_TARGET.test(url)) return true
  // Renderers and browsers interpret these characters differently.
  if (/[\\\s]|&(?:#|[A-Za-z]+;)/.test(url)) return false
  return /^https?:\/\//i.test(url) && isKnown(URL.parse(url)?.hostname ?? '')
}

// Matches only at the beginning of a name: otherwise a long word without a dot would be scanned from each letter.
const HOST =
  /(?=[a-z0-9])(?<![a-z0-9]-*)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+/gi

/** The host names in a text, in lower case. */
export function hostsIn(text: string): string[] {
  return (text.match(HOST) ?? []).map((host) => host.toLowerCase())
}

/** Returns a check whether a host is named by the configuration or by a hit of the run, in its text or URL. */
export function createKnownHosts(configured: readonly string[], { all }: Pick<Citations, 'all'>) {
  const known = new Set(configured)
  let read = 0
  return (host: string): boolean => {
    const hits = all().slice(read)
    read += hits.length
    for (const { text, url = '' } of hits) {
      for (const each of hostsIn(`${url} ${text}`)) known.add(each)
    }
    return known.has(host)
  }
}
