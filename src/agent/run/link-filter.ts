import { CodeScanner, MAX_LOOKED_AT, type Span } from '@agent-server/lib/markdown/code-spans.ts'
import type { Citations } from '../citations/citations.ts'

/** Which links and images an answer may contain: see `links` in the agent configuration. */
export type LinkPolicy = 'no-images' | 'known' | 'all'

export type LinkFilter = ReturnType<typeof createLinkFilter>

/** How much of a text is consumed and what is shown for it; undefined if more text is needed first. */
type Step = { length: number; shown: string; isCode?: boolean } | undefined

interface Scan {
  /** The text not consumed yet; not empty. */
  text: string
  /** What was shown before it. */
  shown: ShownText
  /** Whether no more text follows. */
  isLast: boolean
  mayOpen: (url: string) => boolean
}

/** Characters at which something to be examined may begin. */
const IMAGES = /[!<\\]/
const LINKS = /[!<\\\]hHfFwW]/

/**
 * Filters a streamed Markdown answer so that nothing is loaded from elsewhere: an image becomes a plain link, an HTML
 * tag with attributes becomes text. With `known`, links to unknown hosts become text as well. The output does not
 * depend on how the text is split into pieces. Code that every renderer recognises as code is left unchanged.
 */
export function createLinkFilter(policy: LinkPolicy, isKnown: (host: string) => boolean) {
  const trigger = policy === 'known' ? LINKS : IMAGES
  const mayOpen = policy === 'known' ? (url: string) => isSafe(url, isKnown) : () => true
  const code = new CodeScanner()
  const shown = new ShownText()
  let pending = ''

  const step = (scan: Scan): Step => {
    const at = scan.text.search(trigger)
    if (at === -1) return as(scan.text)
    return at > 0 ? as(scan.text.slice(0, at)) : special(scan)
  }

  function release(isLast: boolean): string {
    let released = ''
    while (pending !== '') {
      const text = pending.slice(0, MAX_LOOKED_AT)
      const next = step({ text, shown, isLast: isLast && text === pending, mayOpen })
      if (!next) break
      if (next.isCode) shown.addCode(next.shown)
      else shown.add(next.shown)
      released += next.shown
      pending = pending.slice(next.length)
    }
    return released
  }

  function take({ text, code }: Span): string {
    if (code !== 'certain') {
      pending += text
      return release(false)
    }
    const before = release(true)
    shown.addCode(text)
    return before + text
  }

  return {
    /** Takes the next piece; returns what can be shown now. */
    write: (piece: string): string =>
      policy === 'all' ? piece : code.write(piece).map(take).join(''),
    /** Ends a text and returns the rest of it; another text may follow. */
    end: (): string => code.end().map(take).join('') + release(true),
  }
}

function waits({ text, isLast }: Scan): boolean {
  return !isLast && text.length < MAX_LOOKED_AT
}

function as(text: string) {
  return { length: text.length, shown: text }
}

/** Text of which only the last character matters, unless it stands at the beginning of a line. */
const WITHIN_LINE = /^[^\n`]+$/

/** Remembers the part of the output that decides how following text is parsed. */
class ShownText {
  /** The last character of the line; empty at its beginning. */
  last = ''
  #isBlank = true
  #run = 0
  #longestRun = 0

  /** More backticks than in any run since the last blank line. */
  get quote(): string {
    return '`'.repeat(this.#longestRun + 1)
  }

  add(text: string): void {
    if (this.#isBlank || !WITHIN_LINE.test(text)) {
      this.#addEach(text)
      return
    }
    this.#run = 0
    this.last = Array.from(text.slice(-2)).at(-1) ?? ''
  }

  #addEach(text: string): void {
    for (const character of text) {
      if (character === '\n' && this.#isBlank) this.#longestRun = 0
      this.#isBlank = character === '\n' || (this.#isBlank && character.trim() === '')
      this.#run = character === '`' ? this.#run + 1 : 0
      this.#longestRun = Math.max(this.#longestRun, this.#run)
      this.last = character === '\n' ? '' : character
    }
  }

  addCode(text: string): void {
    this.last = text.endsWith('\n') ? '' : text.slice(-1)
    this.#isBlank = this.last === ''
    this.#run = 0
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
    case ']':
      return target(scan)
    default:
      return address(scan)
  }
}

/** An image of this server. */
const OWN_IMAGE = /^!\[[^[\]\n]*\]\(\/(?!\/)[\w.~-]+(?:\/[\w.~-]+)*\)/

function image(scan: Scan): Step {
  const { text, shown } = scan
  if (text.length === 1 && waits(scan)) return undefined
  if (text[1] !== '[') return as('!')
  if (waits(scan) && !/[)\n]/.test(text)) return undefined
  const [own] = OWN_IMAGE.exec(text) ?? []
  if (own !== undefined) return as(own)
  // A preceding exclamation mark would make it an image again.
  return { length: 2, shown: shown.last === '!' ? ' [' : '[' }
}

const PLAIN_TAG = /^<\/?[A-Za-z][A-Za-z0-9-]*[ \t]*\/?>$/
/** Tags that run code or swallow the text after them, even without attributes. */
const ACTIVE_TAG =
  /^<\/?(?:script|style|pre|textarea|title|xmp|iframe|noembed|noframes|plaintext|svg|math)\b/i
const AUTOLINK = /^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>`]*|[\w.+-]+@[\w.-]+)>$/

function tag(scan: Scan): Step {
  const { text, mayOpen } = scan
  if (text.length === 1 && waits(scan)) return undefined
  if (!/^<[A-Za-z/!?]/.test(text)) return as('<')
  const end = text.slice(1).search(/[<>\n]/) + 1
  if (end === 0 && waits(scan)) return undefined
  const whole = text.slice(0, end + 1)
  if (PLAIN_TAG.test(whole) && !ACTIVE_TAG.test(whole)) return as(whole)
  const [, url] = AUTOLINK.exec(whole) ?? []
  const isMail = /^[\w.+-]+@/.test(url ?? '')
  return url !== undefined && (isMail || mayOpen(url)) ? as(whole) : { length: 1, shown: '&lt;' }
}

/** `](…)` and `]: …`. */
function target(scan: Scan): Step {
  const { text, mayOpen } = scan
  const after = text[1]
  if (after === undefined && waits(scan)) return undefined
  if (after !== '(' && after !== ':') return as(']')
  const rest = text.slice(2)
  const end = after === '(' ? rest.search(/[)\n]/) : rest.search(/\S\s/) + 1 || -1
  if (end === -1 && waits(scan)) return undefined
  const whole = end === -1 ? rest : rest.slice(0, end)
  // A target on the next line is not examined.
  const isHere = after === ':' || rest[end] === ')'
  if (isHere && mayOpen(withoutPointers(whole))) return as(`]${after}${whole}`)
  return { length: 2, shown: `] ${after}` }
}

/** The address in a link target, without angle brackets and title. */
function withoutPointers(target: string): string {
  const [, pointed, plain = ''] = /^\s*(?:<([^<>]*)|(\S*))/.exec(target) ?? []
  return pointed ?? plain
}

const ADDRESS_STARTS = ['https://', 'http://', 'ftp://', 'www.']
const MAX_START = 8
const ADDRESS = /^(?:https?:\/\/|ftp:\/\/|www\.)[^\s<>`"|\\^{}[\]]*/i
const AFTER_ADDRESS = /(?<![.,;:!?)'*_~])[.,;:!?)'*_~]+$/

function address(scan: Scan): Step {
  const { text, shown, mayOpen } = scan
  const isShort = text.length < MAX_START
  const isBegun = isShort && ADDRESS_STARTS.some((start) => start.startsWith(text.toLowerCase()))
  if (isBegun && waits(scan)) return undefined
  const [url] = ADDRESS.exec(text) ?? []
  if (url === undefined || /[\p{L}\p{N}]/u.test(shown.last)) return as(text.slice(0, 1))
  if (url.length === text.length && waits(scan)) return undefined
  const address = url.replace(AFTER_ADDRESS, '')
  if (mayOpen(address.replace(/^www\./i, 'https://www.'))) return as(address)
  const quote = shown.quote
  return { length: address.length, shown: quote + address + quote, isCode: true }
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
  const hosts = new Set(configured)
  let position = 0
  return (host: string): boolean => {
    const hits = all().slice(position)
    position += hits.length
    for (const { text, url = '' } of hits) {
      for (const each of hostsIn(`${url} ${text}`)) hosts.add(each)
    }
    return hosts.has(host)
  }
}
