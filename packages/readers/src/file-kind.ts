import { mediaTypeOf, UNKNOWN_MEDIA_TYPE } from '@agent-server/lib/media-types.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import type { PictureKind } from './formats/image.ts'
import { startsWith } from './refusals.ts'

/** How a text file is read. `code` keeps its lines as they are. */
export type TextKind =
  | 'html'
  | 'markdown'
  | 'mail'
  | 'mailbox'
  | 'csv'
  | 'json'
  | 'notebook'
  | 'book'
  | 'cards'
  | 'code'
  | 'text'

const EXTENSIONS: readonly (readonly [TextKind, string])[] = [
  [
    'code',
    `asm awk bash bat bib c cc cfg clj cljs cmake cpp cs css cxx dart diff dockerfile el elm erl ex exs f90
    fs fsx go gradle graphql groovy h hpp hrl hs ini java jl js jsx kt kts less lisp lua m mak makefile
    mjs cjs ml mli mts cts nim nix pas patch php pl pm properties proto ps1 py pyi r rb rs sass scala scm scss
    sh sol sql svelte swift tcl tex tf toml ts tsx v vb vhd vim vue xml xsd xsl yaml yml zig zsh`,
  ],
  ['html', 'html htm xhtml'],
  ['markdown', 'md markdown mdx rst adoc'],
  ['csv', 'csv tsv tab'],
  ['json', 'json jsonl ndjson geojson'],
  ['mail', 'eml mht mhtml'],
  ['mailbox', 'mbox mbx'],
  ['notebook', 'ipynb'],
  ['book', 'fb2'],
  ['cards', 'ics ical ifb vcf vcard'],
]

const KIND_BY_EXTENSION: ReadonlyMap<string, TextKind> = new Map(
  EXTENSIONS.flatMap(([kind, names]) => names.split(/\s+/).map((name) => [name, kind] as const)),
)

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/

/** The kind that the file name indicates; undefined if it indicates none. */
export function kindByName(name: string): TextKind | undefined {
  return KIND_BY_EXTENSION.get(extensionOf(name))
}

/** In lower case and without the dot; the whole name if there is no dot (`Makefile`). */
export function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}

/** The media type that the client declared, if it is specific; otherwise derived from the name. */
export function mediaTypeOfUpload(name: string, declared: string | undefined): string {
  const specific = declared?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (specific !== UNKNOWN_MEDIA_TYPE && MEDIA_TYPE.test(specific)) return specific
  const byName = kindByName(name) === 'code' ? UNKNOWN_MEDIA_TYPE : mediaTypeOf(name)
  return byName === UNKNOWN_MEDIA_TYPE && kindByName(name) ? 'text/plain' : byName
}

/** UTF-16 code units at the start of a text that are searched for mail headers, and for what comes before a page. */
const HEADERS_PREFIX = 16_384
const PAGE_PREFIX = 1_000_000
const TAG = /<\/?[a-z][^<>]*>/i
const HEADER_LINE = /^[A-Za-z][\w-]{0,70}:[ \t]/
/** A mail has at least one of these headers, in addition to its sender. */
const MAIL_HEADER = /^(?:Message-ID|MIME-Version|Received|Date|Return-Path):/im
/** What a mail needs whose name says that it is one. */
const NAMED_MAIL = /^(?:From|To|Subject|MIME-Version):/im

/** Kinds that keep their name's word whatever they hold: they may well contain a page or another kind of record. */
const BY_NAME = new Set<TextKind>(['code', 'markdown', 'notebook'])
/** Kinds that a name alone does not make. */
const BY_CONTENT = new Set<TextKind>(['mail', 'mailbox', 'book', 'cards'])

/** The kind of a text: by content where that is conclusive, else by name or declared type, else plain text. */
export function textKindOf(text: string, name: string, mediaType = ''): TextKind {
  const byName = kindByName(name) ?? (mediaType === 'text/html' ? 'html' : undefined)
  const byContent = kindByContent(text)
  if (byContent === 'book') return 'book'
  if (byName !== undefined && BY_NAME.has(byName)) return byName
  if (byContent !== undefined) return byContent
  if (byName === undefined) return isJson(text) ? 'json' : 'text'
  return fits(byName, text) ? byName : 'text'
}

function fits(kind: TextKind, text: string): boolean {
  if (kind === 'html') return TAG.test(text.slice(0, PAGE_PREFIX))
  // With such a name, fewer headers make a mail.
  if (kind === 'mail' || kind === 'mailbox') return NAMED_MAIL.test(headOf(text))
  return !BY_CONTENT.has(kind)
}

function kindByContent(text: string): TextKind | undefined {
  const start = withoutProlog(text)
  const [kind] = STARTS.find(([, sign]) => sign.test(start)) ?? []
  if (kind !== undefined) return kind
  if (!isMail(text)) return undefined
  return isMailbox(text) ? 'mailbox' : 'mail'
}

const STARTS: readonly (readonly [TextKind, RegExp])[] = [
  ['book', /^<FictionBook[\s>]/],
  ['html', /^<(?:!doctype\s+html|html|head|body)[\s>]/i],
  ['cards', /^BEGIN:V(?:CALENDAR|CARD)\b/i],
]
/** What may stand before that. */
const PROLOG = /\s+|<!--|<\?/y

/** The text after white space, comments and the declaration of XML. */
function withoutProlog(text: string): string {
  let at = 0
  while (at < PAGE_PREFIX) {
    PROLOG.lastIndex = at
    const [sign] = PROLOG.exec(text) ?? []
    if (sign === undefined) break
    const end = sign === '<!--' ? text.indexOf('-->', at) + 3 : text.indexOf('>', at) + 1
    at = sign.startsWith('<') ? end : at + sign.length
    if (sign.startsWith('<') && end < 4) return ''
  }
  return text.slice(at, at + 100)
}

/** The line before each mail of a mailbox, and before one that was taken out of it. */
const ENVELOPE = /^From .*\n/

const isMailbox = (text: string) => ENVELOPE.test(text) && text.includes('\n\nFrom ')

function isMail(text: string): boolean {
  const head = headOf(text)
  return /^From:/im.test(head) && MAIL_HEADER.test(head)
}

/** The headers of a mail; empty if the text begins with anything else. */
function headOf(text: string): string {
  const start = text.slice(0, HEADERS_PREFIX).replace(ENVELOPE, '')
  const head = start.split('\n\n', 1)[0] ?? ''
  return HEADER_LINE.test(head) ? head : ''
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && parseJson(text) !== undefined
}

const bytes = (...values: number[]) => Buffer.from(values)

/** The kind of an image whose text can be recognised; undefined for anything else. */
export function pictureKind(content: Buffer): PictureKind | undefined {
  if (startsWith(content, Buffer.from('RIFF'))) {
    return content.toString('latin1', 8, 12) === 'WEBP' ? 'webp' : undefined
  }
  const isBitmap = startsWith(content, Buffer.from('BM')) && content.length > 26
  if (isBitmap && content.readUInt32LE(2) === content.length) return 'bmp'
  return PICTURE_MARKS.find(([, mark]) => startsWith(content, mark))?.[0]
}

const PICTURE_MARKS: readonly (readonly [PictureKind, Buffer])[] = [
  ['png', bytes(0x89, 0x50, 0x4e, 0x47)],
  ['jpeg', bytes(0xff, 0xd8, 0xff)],
  ['gif', Buffer.from('GIF8')],
  ['tiff', bytes(0x49, 0x49, 0x2a, 0)],
  ['tiff', bytes(0x4d, 0x4d, 0, 0x2a)],
]
