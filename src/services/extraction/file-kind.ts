/** How a file is read. `code` keeps its lines as they are. */
export type TextKind = 'html' | 'markdown' | 'mail' | 'csv' | 'json' | 'code' | 'text'
export type FileKind = TextKind | 'pdf' | 'docx' | 'pptx' | 'xlsx' | 'epub' | 'parquet'

const CODE_EXTENSIONS = `
  asm awk bash bat bib c cc cfg clj cljs cmake cpp cs css cxx dart diff dockerfile el elm erl ex exs f90
  fs fsx go gradle graphql groovy h hpp hrl hs ini ipynb java jl js jsx kt kts less lisp lua m mak makefile
  mjs cjs ml mli mts cts nim nix pas patch php pl pm properties proto ps1 py pyi r rb rs sass scala scm scss
  sh sol sql svelte swift tcl tex tf toml ts tsx v vb vhd vim vue xml xsd xsl yaml yml zig zsh`
  .trim()
  .split(/\s+/)

const KIND_BY_EXTENSION: ReadonlyMap<string, TextKind> = new Map<string, TextKind>([
  ...CODE_EXTENSIONS.map((extension): [string, TextKind] => [extension, 'code']),
  ...(['html', 'htm', 'xhtml', 'mhtml'] as const).map((name): [string, TextKind] => [name, 'html']),
  ...(['md', 'markdown', 'mdx', 'rst', 'adoc'] as const).map((name): [string, TextKind] => [
    name,
    'markdown',
  ]),
  ...(['csv', 'tsv', 'tab'] as const).map((name): [string, TextKind] => [name, 'csv']),
  ...(['json', 'jsonl', 'ndjson', 'geojson'] as const).map((name): [string, TextKind] => [
    name,
    'json',
  ]),
  ['eml', 'mail'],
])

const MEDIA_TYPES: Record<string, string> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  epub: 'application/epub+zip',
  parquet: 'application/vnd.apache.parquet',
  html: 'text/html',
  htm: 'text/html',
  md: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  jsonl: 'application/jsonl',
  ndjson: 'application/x-ndjson',
  eml: 'message/rfc822',
  txt: 'text/plain',
}

/** Said by clients that do not know better. */
const UNKNOWN = 'application/octet-stream'
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/

/** What the name says of a text; nothing where it says nothing. */
export function kindByName(name: string): TextKind | undefined {
  return KIND_BY_EXTENSION.get(extensionOf(name))
}

/** In small letters and without the point; the whole name where it has none (`Makefile`). */
export function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}

/** What the client says, if that is something; else what the name says. */
export function mediaTypeOf(name: string, declared: string | undefined): string {
  const said = declared?.split(';')[0]?.trim().toLowerCase() ?? UNKNOWN
  if (said !== UNKNOWN && MEDIA_TYPE.test(said)) return said
  return MEDIA_TYPES[extensionOf(name)] ?? (kindByName(name) ? 'text/plain' : UNKNOWN)
}
