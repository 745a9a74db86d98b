import { kindByName, type TextKind } from './file-kind.ts'

const HTML_WITHIN = 1_024
const HEADERS_WITHIN = 16_384
const HTML = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype\s+html|html)[\s>]/i
const HEADER_LINE = /^[A-Za-z][\w-]{0,70}:[ \t]/
/** A mail has one of these lines at least, besides its sender's. */
const MAIL_HEADER = /^(?:Message-ID|MIME-Version|Received|Date|Return-Path):/im

/** What a text is: by what it holds where that is certain, else by its name, else plain. */
export function textKindOf(text: string, name: string): TextKind {
  const named = kindByName(name)
  // A program may well hold a page or a record of another kind.
  if (named === 'code' || named === 'markdown') return named
  if (HTML.test(text.slice(0, HTML_WITHIN))) return 'html'
  if (isMail(text)) return 'mail'
  if (named === 'mail' || named === 'html') return 'text'
  return named ?? (isJson(text) ? 'json' : 'text')
}

function isMail(text: string): boolean {
  const head = text.slice(0, HEADERS_WITHIN).split('\n\n', 1)[0] ?? ''
  return HEADER_LINE.test(head) && /^From:/im.test(head) && MAIL_HEADER.test(head)
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
