import { filledText, freeObject } from '@agent-server/lib/fields.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { FormField, FormKind, Forms } from '@agent-server/office-tools'
import type {
  ArtifactStore,
  DocumentLookup,
  DocumentStore,
  StoredDocument,
} from '@agent-server/stores'
import { z } from 'zod'
import { defineTool, type Tool, type ToolContext } from './define-tool.ts'
import { unservedReason } from './tool-files.ts'

const MAX_BYTES = 20_000_000
const MAX_FIELDS = 500

const Value = z.strictObject({
  value: z.union([filledText(10_000), z.number(), z.boolean()]),
  source: z.union([z.int().min(1), z.literal('user')]),
})

const Input = z
  .strictObject({
    documentId: filledText(200).optional(),
    artifactId: filledText(64).optional(),
    markdown: filledText(100_000).optional().describe('With {{placeholders}}.'),
    schema: freeObject().optional(),
    values: freeObject()
      .pipe(z.record(z.string().min(1).max(200), Value))
      .default({})
      .describe('By field, {value, source}; source: passage number or "user".'),
  })
  .refine(
    ({ documentId, artifactId, markdown, schema }) =>
      [documentId, artifactId, markdown, schema].filter((form) => form !== undefined).length === 1,
    { message: 'must have exactly one of documentId, artifactId, markdown and schema' },
  )
  .refine(({ values }) => Object.keys(values).length <= MAX_FIELDS, {
    message: `must not have more than ${MAX_FIELDS} values`,
  })

type Input = z.output<typeof Input>

interface Dependencies {
  forms: Forms
  store: Pick<DocumentStore, 'get' | 'readFile'>
  lookup: Pick<DocumentLookup, 'readText'>
  artifacts: Pick<ArtifactStore, 'read'>
}

interface Form {
  kind: FormKind
  name: string
  bytes: Uint8Array
}

const MEDIA_TYPES: Record<FormKind, string> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  text: 'text/markdown',
  schema: 'application/json',
}

/** Fills forms, only with values from retrieved chunks or the user. */
export function fillForm(parts: Dependencies): Tool {
  return defineTool({
    name: 'fill_form',
    title: 'Fill a form',
    description:
      'Fill a PDF, Word, text or JSON form; without values, lists its fields. Never guess a value.',
    input: Input,
    async run(input, context, signal) {
      const { kind, name, bytes } = await openForm(input, parts, context, signal)
      const entries = Object.entries(input.values)
      const unfounded = unfoundedOf(input, context)
      if (unfounded.length > 0) throw new Refusal(unfounded.join('\n'))
      const values = Object.fromEntries(entries.map(([field, { value }]) => [field, value]))
      const result = await parts.forms.fill({ kind, bytes, values }, context.share, signal)
      if (result.mistakes.length > 0) throw new Refusal(result.mistakes.join('\n'))
      if (!result.bytes) return `The fields of the form:\n${result.fields.map(toLine).join('\n')}`
      const file = { name, mediaType: MEDIA_TYPES[kind], bytes: result.bytes }
      const artifact = await context.artifacts.add(file)
      const sources = entries.map(
        ([field, { source }]) =>
          `${field} (${source === 'user' ? source : `${context.citations.key} [${source}]`})`,
      )
      return [
        `The form is filled. The user is given ${artifact.name}: ${artifact.url}`,
        `Filled: ${sources.join(', ')}`,
        `Not filled: ${result.unfilled.join(', ') || 'none'}. Tell the user which, and do not guess them.`,
      ].join('\n')
    },
  })
}

async function openForm(
  { documentId = '', artifactId, markdown, schema }: Input,
  parts: Dependencies,
  context: ToolContext,
  signal: AbortSignal,
): Promise<Form> {
  if (schema) {
    return { kind: 'schema', name: 'form.json', bytes: Buffer.from(JSON.stringify(schema)) }
  }
  if (markdown !== undefined) {
    return { kind: 'text', name: 'form.md', bytes: Buffer.from(markdown) }
  }
  if (artifactId !== undefined) {
    const file = await parts.artifacts.read(artifactId, context.owner)
    if (!file) throw new Refusal('The artifact does not exist or has expired')
    return toForm(file.artifact.name, file.bytes)
  }
  const { visibility } = context
  const document = await parts.store.get(visibility, documentId)
  if (!document) throw new Refusal(`There is no document "${documentId}"`)
  const mistake = unservedReason(document)
  if (mistake) throw new Refusal(mistake)
  return openDocument(document, parts, visibility, signal)
}

async function openDocument(
  { id, file, title = 'form' }: StoredDocument,
  { store, lookup }: Dependencies,
  visibility: Visibility,
  signal: AbortSignal,
): Promise<Form> {
  const pieces = file && (await store.readFile(visibility, id))
  if (file && pieces) {
    if (file.size > MAX_BYTES) throw new Refusal('The form is too large')
    return toForm(file.name, Buffer.concat(await Array.fromAsync(pieces)))
  }
  const text = (await lookup.readText(visibility, id, signal)) ?? ''
  return { kind: 'text', name: `${title}.md`, bytes: Buffer.from(text) }
}

function toForm(name: string, bytes: Uint8Array): Form {
  const begin = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  if (begin === '%PDF') return { kind: 'pdf', name, bytes }
  return { kind: begin.startsWith('PK') ? 'docx' : 'text', name, bytes }
}

/** Complaints about values whose words are not in the cited chunk. */
function unfoundedOf({ values }: Input, { citations }: ToolContext): string[] {
  const hits = citations.all()
  return Object.entries(values).flatMap(([name, { value, source }]) => {
    if (source === 'user' || typeof value === 'boolean') return []
    const hit = hits[source - 1]
    if (!hit) return [`${name}: there is no passage ${source}`]
    const folded = `${hit.title} ${hit.text} ${JSON.stringify(hit.metadata ?? {})}`
    const missing = missingWords(String(value), folded)
    if (missing.length === 0) return []
    return [`${name}: passage ${source} does not say ${missing.join(' ')}`]
  })
}

function toLine({ name, kind, options, required, maxLength, hint }: FormField): string {
  const facts = [
    `${kind}${options ? ` of ${options.join(', ')}` : ''}`,
    ...(required ? ['required'] : []),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(hint === undefined ? [] : [`(${hint})`]),
  ]
  return `- ${name}: ${facts.join(', ')}`
}

/** Scripts that do not separate words, or attach particles to them: their words are searched for as substrings. */
const UNPARTED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

/** The words of a value that are not in a text, ignoring case and compatibility forms of characters (NFKC). */
export function missingWords(value: string, text: string): string[] {
  const folded = fold(text)
  const words = new Set(wordsOf(folded))
  return [...new Set(wordsOf(fold(value)))].filter(
    (word) => !words.has(word) && !(UNPARTED.test(word) && folded.includes(word)),
  )
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}
