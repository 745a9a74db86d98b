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

/** What an answer may make a reader's program load or offer to open. */
export type LinkPolicy = 'no-images' | 'known' | 'all'

export type LinkFilter = ReturnType<typeof createLinkFilter>

/** At which something that is looked at may begin. */
const IMAGES = /[!<`~\n\\]/g
const LINKS = /[!<`~\n\\\]hHfFwW]/g

/**
 * Takes an answer that comes in pieces, as Markdown, and disarms what would load something from elsewhere: an image
 * becomes a plain link, a tag of HTML with attributes becomes text. With `known`, links to hosts that it does not
 * know become text, too. What is shown does not depend on how the text is cut. Code that every renderer takes for
 * code is left as it is.
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
    /** Takes the next piece; answers what can be shown by now. */
    write: (piece: string): string => (policy === 'all' ? piece : take(piece, false)),
    /** The rest of a text; another may follow. */
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

/** Of this server. */
const OWN_IMAGE = /^!\[[^[\]\n]*\]\(\/(?!\/)[\w.~-]+(?:\/[\w.~-]+)*\)/

function image(scan: Scan): Step {
  const { text, block } = scan
  if (text.length === 1 && waits(scan)) return undefined
  if (text[1] !== '[') return as('!')
  if (!/[)\n]/.test(text) && waits(scan)) return undefined
  const [own] = OWN_IMAGE.exec(text) ?? []
  if (own !== undefined) return as(own)
  // An exclamation mark before it would make it an image again.
  return { taken: 2, shown: block.last === '!' ? ' [' : '[' }
}

const PLAIN_TAG = /^<\/?[A-Za-z][A-Za-z0-9-]*[ \t]*\/?>$/
/** What runs, or swallows what follows, also without attributes. */
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
  // A target on the next line is not looked for.
  const isHere = after === ':' || rest[end] === ')'
  if (isHere && mayOpen(withoutPointers(whole))) return as(`]${after}${whole}`)
  return { taken: 2, shown: `] ${after}` }
}

/** The address at the beginning of what a link names. */
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

/** Of this server, or a place in the text. */
const OWN_TARGET = /^(?!.*\/\/)[\w.~/-]*(?:#[\w-]*)?$/

function isSafe(url: string, isKnown: (host: string) => boolean): boolean {
  if (OWN_TARGET.test(url)) return true
  // Renderers and browsers read these as something else.
  if (/[\\\s]|&(?:#|[A-Za-z]+;)/.test(url)) return false
  return /^https?:\/\//i.test(url) && isKnown(URL.parse(url)?.hostname ?? '')
}

// From the beginning of a name alone: a long word without a point would else be read again from each of its letters.
const HOST =
  /(?=[a-z0-9])(?<![a-z0-9]-*)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+/gi

/** The hosts that a text names, in lower case. */
export function hostsIn(text: string): string[] {
  return (text.match(HOST) ?? []).map((host) => host.toLowerCase())
}

/** Whether the configuration names a host, or a hit of the run does, in its text or its address. */
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
