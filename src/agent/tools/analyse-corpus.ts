import { createHash } from 'node:crypto'
import { countUpTo, filledText, freeObject } from '@agent-server/lib/fields.ts'
import { shownMetadata } from '@agent-server/lib/labels.ts'
import { createRest, piecesOf } from '@agent-server/lib/text/slices.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { type ChatModel, UNMETERED } from '@agent-server/models'
import { allOf, Filter, OPERATOR_NAMES } from '@agent-server/schemas/metadata.ts'
import { type DocumentLookup, eachDocument, type StoredDocument } from '@agent-server/stores'
import { z } from 'zod'
import type { Citations } from '../citations/citations.ts'
import { cite } from '../citations/citations.ts'
import { defineTool, type Tool, type ToolContext } from './define-tool.ts'
import { mapReduce, PART_CHARACTERS, type ReadDocument } from './map-reduce.ts'

const MAX_LISTED = 200
/** Maximum documents whose texts are counted. */
const MAX_COUNTED = 20_000
/** Maximum documents that the model reads for one question. */
const MAX_READ = 1_000
/** Maximum UTF-16 code units that the model reads, which limits its cost. */
const MAX_CHARACTERS = 4_000_000
/** Maximum partly read documents that are listed. */
const MAX_NAMED = 20
const DEADLINE_MS = 280_000

const FILTER_HELP = `A filter is {"field": name} with one or more of ${OPERATOR_NAMES.join(', ')}; or {"and": [filters]}, {"or": [filters]}, {"not": filter}.`

const Input = z
  .strictObject({
    task: z
      .enum(['count', 'list', 'values', 'timeline', 'terms', 'duplicates', 'question'])
      .describe(
        'values, timeline: documents by a metadata field; terms: frequent words; question: reads all.',
      ),
    // Described in words: the schema of four levels of conditions would take a thousand tokens.
    filter: freeObject()
      .transform((filter): unknown => filter)
      .pipe(Filter)
      .optional()
      .describe('E.g. {"field": "year", "gte": 2020}.'),
    field: filledText(64).optional(),
    per: z.enum(['year', 'month', 'day']).default('month'),
    question: filledText(2_000).optional(),
    limit: countUpTo(MAX_LISTED).default(50),
  })
  .refine(({ task, field }) => field !== undefined || !['values', 'timeline'].includes(task), {
    message: 'field is required for values and timeline',
  })
  .refine(({ task, question }) => question !== undefined || task !== 'question', {
    message: 'question is required for the task question',
  })

type Input = z.output<typeof Input>

interface Dependencies {
  lookup: DocumentLookup
  model: Pick<ChatModel, 'name' | 'stream'>
  isStopWord: (word: string) => boolean
}

/** Answers questions about the whole corpus, and always says how much of it was read. */
export function analyseCorpus(parts: Dependencies): Tool {
  return defineTool({
    name: 'analyse_corpus',
    title: 'Analyse the corpus',
    description: 'Analyse all documents, not only the best passages.',
    input: Input,
    help: FILTER_HELP,
    deadlineMs: DEADLINE_MS,
    async run(input, context, signal) {
      const { visibility } = context
      const total = await parts.lookup.countDocuments(visibility, input.filter, signal)
      const analysis = { ...parts, input, visibility, total, context, signal }
      switch (input.task) {
        case 'count':
          return `${total} documents.`
        case 'list':
          return list(analysis)
        case 'values':
        case 'timeline':
          return values(analysis)
        case 'terms':
          return terms(analysis)
        case 'duplicates':
          return duplicates(analysis)
        case 'question':
          return question(analysis)
      }
    },
  })
}

interface Analysis extends Dependencies {
  input: Input
  visibility: Visibility
  total: number
  context: ToolContext
  signal: AbortSignal
}

const CHARACTERS = { year: 4, month: 7, day: 10 }

async function list(analysis: Analysis): Promise<string> {
  const { lookup, input, visibility, total, context, signal } = analysis
  const { filter, limit } = input
  const { documents } = await lookup.findDocuments(visibility, { filter, limit }, signal)
  const lines = documents.map((document) => {
    const metadata = shownMetadata(document)
    const fields = metadata ? ` ${JSON.stringify(metadata)}` : ''
    return citeDocument(context.citations, document) + fields
  })
  return `Listed ${lines.length} of ${total} documents.\n${lines.join('\n')}`
}

async function values({ lookup, input, visibility, total, signal }: Analysis): Promise<string> {
  const { task, field = '', per, limit, filter } = input
  const inOrder = task === 'timeline'
  const characters = inOrder ? CHARACTERS[per] : undefined
  const query = { field, filter, limit, inOrder, characters }
  const counts = await lookup.metadataValues(visibility, query, signal)
  const withField = allOf(filter, present(field))
  const covered = await lookup.countDocuments(visibility, withField, signal)
  const lines = counts.map(({ value, documents }) => `${value}: ${documents}`)
  return `${covered} of ${total} documents have the field ${field}.\n${lines.join('\n')}`
}

async function terms({ isStopWord, ...analysis }: Analysis): Promise<string> {
  const counts: TermCounts = new Map()
  const read = await readEach(analysis, async ({ text }) => {
    const rest = createRest(analysis.signal)
    const distinct = new Set<string>()
    for (const piece of piecesOf(text)) {
      countTerms(counts, piece, isStopWord, distinct)
      await rest()
    }
  })
  const { limit } = analysis.input
  const occurrences = Float64Array.from(counts.values(), (count) => count.occurrences).sort()
  const fewest = occurrences.at(-limit) ?? 0
  const lines = [...counts]
    .filter(([, count]) => count.occurrences >= fewest)
    .toSorted(([a, one], [b, two]) => two.occurrences - one.occurrences || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([term, count]) => `${term}: ${count.occurrences} in ${count.documents} documents`)
  return `Read ${read} of ${analysis.total} documents.\n${lines.join('\n')}`
}

/** Maximum words counted; if there are more, at least the rarest half of them is dropped. */
const MAX_TERMS = 200_000

type TermCounts = Map<string, { occurrences: number; documents: number }>

/** Counts the words of one more text or piece of it, in bounded memory; `distinct` has those of its other pieces. */
export function countTerms(
  counts: TermCounts,
  text: string,
  isStopWord: (word: string) => boolean,
  distinct = new Set<string>(),
): void {
  for (const [word] of text.toLowerCase().matchAll(/\p{L}[\p{L}\p{M}\p{N}'’-]*/gu)) {
    if (word.length <= 2 || isStopWord(word)) continue
    const entry = counts.get(word) ?? { occurrences: 0, documents: 0 }
    entry.occurrences += 1
    if (!distinct.has(word)) entry.documents += 1
    distinct.add(word)
    counts.set(word, entry)
  }
  if (counts.size > MAX_TERMS) forgetRarest(counts)
}

function forgetRarest(counts: TermCounts): void {
  for (let rare = 1; counts.size > MAX_TERMS / 2; rare *= 2) {
    for (const [term, { occurrences }] of counts) if (occurrences <= rare) counts.delete(term)
  }
}

async function duplicates(analysis: Analysis): Promise<string> {
  const byDigest = new Map<string, StoredDocument[]>()
  const read = await readEach(analysis, async ({ document, text }) => {
    const digest = await digestOfWords(text, analysis.signal)
    byDigest.set(digest, [...(byDigest.get(digest) ?? []), document])
  })
  const groups = [...byDigest.values()].filter((documents) => documents.length > 1)
  const lines = groups.slice(0, analysis.input.limit).map((documents) => {
    const cited = documents.map((each) => citeDocument(analysis.context.citations, each))
    return `- ${cited.join(' = ')}`
  })
  return `Read ${read} of ${analysis.total} documents: ${groups.length} groups of the same text.\n${lines.join('\n')}`
}

async function digestOfWords(text: string, signal: AbortSignal): Promise<string> {
  const rest = createRest(signal)
  const digest = createHash('sha256')
  for (const piece of piecesOf(text)) {
    const plain = piece.normalize('NFKC').toLowerCase()
    for (const word of plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) digest.update(`${word} `)
    await rest()
  }
  return digest.digest('hex')
}

async function question(analysis: Analysis): Promise<string> {
  const { input, model, total, context, signal } = analysis
  const parts = await readParts(analysis)
  const { answer, notes, read, failed } = await mapReduce(
    { model, meter: context.meter ?? UNMETERED },
    input.question ?? '',
    parts,
    signal,
  )
  const sources = [...new Set(notes.flatMap((note) => note.documents))]
    .slice(0, MAX_LISTED)
    .map((document) => citeDocument(context.citations, document))
  return [
    `Read ${read} of ${total} documents.${describeCut(parts)}${failed > 0 ? ` The model failed at ${failed}.` : ''}`,
    answer,
    ...(sources.length > 0 ? [`Documents with something to say:\n${sources.join('\n')}`] : []),
  ].join('\n\n')
}

/** Reads the beginning of every document, then the rest of the longer ones, one by one, as far as the budget allows. */
async function readParts(analysis: Analysis): Promise<ReadDocument[]> {
  const parts: ReadDocument[] = []
  let room = MAX_CHARACTERS
  const take = ({ document, text, start = 0 }: ReadDocument) => {
    const part = text.slice(0, Math.min(PART_CHARACTERS, room))
    room -= part.length
    // A copy, since a slice would keep the whole text in memory.
    if (part !== '') parts.push({ document, text: Buffer.from(part).toString(), start })
  }
  const takeBeginning = (read: ReadDocument) => {
    take(read)
    return room > 0 && parts.length < MAX_READ
  }
  await readEach(analysis, takeBeginning, PART_CHARACTERS)
  for (const { document, text: beginning } of [...parts]) {
    if (room <= 0) break
    if (beginning.length < PART_CHARACTERS) continue
    const part = { documentId: document.id, start: PART_CHARACTERS, end: PART_CHARACTERS + room }
    const { lookup, visibility, signal } = analysis
    const rest = (await lookup.readPart(visibility, part, signal))?.text ?? ''
    for (let at = 0; at < rest.length && room > 0; at += PART_CHARACTERS) {
      take({ document, text: rest.slice(at), start: PART_CHARACTERS + at })
    }
  }
  return parts
}

/** Says which documents were only partly read, and how far. */
function describeCut(parts: readonly ReadDocument[]): string {
  const ends = new Map(parts.map((part) => [part.document, (part.start ?? 0) + part.text.length]))
  const cut = [...ends].flatMap(([{ id, title, characters }, end]) =>
    end < characters ? [`${title ?? id}: ${end} of ${characters} characters`] : [],
  )
  if (cut.length === 0) return ''
  const more = cut.length > MAX_NAMED ? `; and ${cut.length - MAX_NAMED} more` : ''
  return ` Of ${cut.length} only the beginning (${cut.slice(0, MAX_NAMED).join('; ')}${more}).`
}

/** Passes each document with its text, up to `end`, to `take` until that returns false; returns their number. */
async function readEach(
  { lookup, input, visibility, signal }: Omit<Analysis, 'isStopWord'>,
  take: (read: ReadDocument) => unknown,
  end?: number,
): Promise<number> {
  let read = 0
  const { filter } = input
  for await (const document of eachDocument(lookup, visibility, { filter }, MAX_COUNTED, signal)) {
    const range = { documentId: document.id, start: 0, end }
    const part = await lookup.readPart(visibility, range, signal)
    if (!part) continue
    read += 1
    if ((await take({ document, text: part.text })) === false) break
  }
  return read
}

/** A filter for documents that have the field, with a value of any type. */
function present(field: string): Filter {
  return {
    or: [
      { field, gte: '' },
      { field, gte: -Number.MAX_VALUE },
      { field, in: [true, false] },
    ],
  }
}

/** Makes a whole document a citable source; returns its number and its title on one line. */
function citeDocument(citations: Citations, document: StoredDocument): string {
  const { id, characters: end } = document
  const title = document.title?.replaceAll(/\s+/g, ' ') ?? id
  const source = { id: `${id}-document`, text: `The document ${title}`, end }
  return `${cite(citations, document, source)} ${title}`
}
