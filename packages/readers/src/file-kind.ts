import { mediaTypeOf, UNKNOWN_MEDIA_TYPE } from '@agent-server/lib/media-types.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import type { PictureKind } from './formats/image.ts'
import { startsWith } from './refusals.ts'

/** How a text file is read. `code` keeps its lines as they are. */
export type TextKind = 'html' | 'markdown' | 'mail' | 'csv' | 'json' | 'code' | 'text'

const EXTENSIONS: readonly (readonly [TextKind, string])[] = [
  [
    'code',
    `asm awk bash bat bib c cc cfg clj cljs cmake cpp cs css cxx dart diff dockerfile el elm erl ex exs f90
    fs fsx go gradle graphql groovy h hpp hrl hs ini ipynb java jl js jsx kt kts less lisp lua m mak makefile
    mjs cjs ml mli mts cts nim nix pas patch php pl pm properties proto ps1 py pyi r rb rs sass scala scm scss
    sh sol sql svelte swift tcl tex tf toml ts tsx v vb vhd vim vue xml xsd xsl yaml yml zig zsh`,
  ],
  ['html', 'html htm xhtml mhtml'],
  ['markdown', 'md markdown mdx rst adoc'],
  ['csv', 'csv tsv tab'],
  ['json', 'json jsonl ndjson geojson'],
  ['mail', 'eml'],
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

/** UTF-16 code units at the start of a text that are searched for the mark of an HTML page, and for mail headers. */
const HTML_PREFIX = 1_024
const HEADERS_PREFIX = 16_384
const HTML = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype\s+html|html)[\s>]/i
const HEADER_LINE = /^[A-Za-z][\w-]{0,70}:[ \t]/
/** A mail has at least one of these headers, in addition to its sender. */
const MAIL_HEADER = /^(?:Message-ID|MIME-Version|Received|Date|Return-Path):/im

/** The kind of a text: by content where that is conclusive, else by name, else plain text. */
export function textKindOf(text: string, name: string): TextKind {
  const byName = kindByName(name)
  // Source code or Markdown may well contain an HTML page or another kind of record.
  if (byName === 'code' || byName === 'markdown') return byName
  if (HTML.test(text.slice(0, HTML_PREFIX))) return 'html'
  if (isMail(text)) return 'mail'
  if (byName === 'mail' || byName === 'html') return 'text'
  return byName ?? (isJson(text) ? 'json' : 'text')
}

/** The line before each mail of a mailbox, and before one that was taken out of it. */
const ENVELOPE = /^From .*\n/

function isMail(text: string): boolean {
  if (ENVELOPE.test(text) && text.includes('\n\nFrom ')) return false
  const start = text.slice(0, HEADERS_PREFIX).replace(ENVELOPE, '')
  const head = start.split('\n\n', 1)[0] ?? ''
  return HEADER_LINE.test(head) && /^From:/im.test(head) && MAIL_HEADER.test(head)
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
