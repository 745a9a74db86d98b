/**
 * How well `supported` of a citation tells true statements from false ones, measured on pairs made of questions and
 * answers about paragraphs, in the JSON format of SQuAD and XQuAD. A true statement is the question with its answer in
 * the place of the question word. False ones are the same beside another paragraph of the article, with another number
 * or name, with the answer of another question, or with a negation. A sentence of the paragraph itself is false with a
 * number or name of another one of its sentences.
 *
 *     node scripts/eval-citations.ts <xquad.en.json> [english]
 *     node scripts/eval-citations.ts <xquad.de.json> german --parallel <xquad.en.json>
 *     node scripts/eval-citations.ts <xquad.en.json> english http://127.0.0.1:8080/v1 20
 *
 * German writes nouns like names. The same texts in another language, in which names look alike, tell them apart: then
 * nouns are exchanged, too, in rows of their own.
 *
 * The last form lets the model of a server judge as well, as CITATION_CHECK=model does, each kind's so many pairs of the
 * second half that lie evenly apart.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Reader, UNMETERED } from '@agent-server/models'
import { ANALYSER_LANGUAGES, createAnalyser } from '@agent-server/search'
import { z } from 'zod'
import { checkStatements } from '../src/agent/citations/cited-statements.ts'
import { judgeStatements } from '../src/agent/citations/judge-statements.ts'
import { sentencesOf } from '../src/agent/citations/sentences.ts'

const Question = z.object({
  question: z.string(),
  answers: z.array(z.object({ text: z.string() })).min(1),
})
const Paragraph = z.object({ context: z.string(), qas: z.array(Question) })
const Article = z.object({ title: z.string().default(''), paragraphs: z.array(Paragraph).min(1) })
type Article = z.output<typeof Article>

const Completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
})

const QUESTION_WORDS = {
  english:
    /\b(?:how (?:many|much|long|old|far)|what|who|whom|where|when|which|whose|why|how)(?: \w+)?\b/i,
  german:
    /\b(?:(?:wie viele?|welche[rsnm]?)(?: (?:\p{Ll}+e[mnrs]? )?\p{Lu}[\p{L}-]+)?|was|wer|wen|wem|wo|wann|wie|warum)(?!\p{L})/iu,
  spanish: /(?:cuánt[oa]s?|qué|quién(?:es)?|dónde|cuándo|cuál(?:es)?|cómo)/i,
  french: /(?:combien|qu'est-ce qu[e']|quel(?:le)?s?|qui|où|quand|comment|pourquoi|que)(?!\p{L})/iu,
}
const VERBS = {
  english: /\b(?:did|was|were|is|are|does|do|has|had)\b/,
  german: /\b(?:war|waren|ist|sind|wurde|wurden|hat|hatte|haben|hatten|kann|können|wird|werden)\b/,
  spanish:
    /(?<!\p{L})(?:es|son|era|eran|fue|fueron|está|están|tiene|tienen|había|ha|han|se)(?!\p{L})/u,
  french: /(?<!\p{L})(?:est|sont|était|étaient|fut|furent|a|ont|avait|peut)(?![\p{L}-])/u,
}
const NEGATED = {
  english: '$& not',
  german: '$& nicht',
  spanish: 'no $&',
  french: 'ne $& pas',
}
const NUMBER = /\d+(?:[.,]\d+)*/g
const NAME = /(?<=\p{Ll} )\p{Lu}\p{Ll}{2,}/gu
const KINDS = [
  'true',
  'passage',
  'number',
  'name',
  'noun',
  'negation',
  'answer',
  'other number',
  'other name',
  'other noun',
] as const
type Pair = { kind: (typeof KINDS)[number]; statement: string; passage: string; title: string }

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { parallel: { type: 'string' } },
})
const [file, language = 'english', url, judgedPairs = '20'] = positionals
const analyserLanguage = z.enum(['english', 'german', 'spanish', 'french']).parse(language)
if (file === undefined) throw new Error('Name a file in the format of SQuAD.')
const data = articlesOf(file)
const parallel = values.parallel === undefined ? undefined : articlesOf(values.parallel)
const analyser = createAnalyser(z.enum(ANALYSER_LANGUAGES).parse(language))
const termsOf = (text: string) => analyser.query(text).terms

// The second half was looked at only for the table.
for (const half of url === undefined ? [0, 1] : []) {
  const pairs = data.flatMap((article, place) =>
    place % 2 === half ? pairsOf(article, place) : [],
  )
  const rows = []
  for (const kind of KINDS) {
    const verdicts = await Promise.all(pairs.filter((pair) => pair.kind === kind).map(verdictOf))
    const share = (verdict: unknown) =>
      (verdicts.filter((each) => each === verdict).length / verdicts.length).toFixed(3)
    if (verdicts.length === 0) continue
    rows.push({ kind, pairs: verdicts.length, supported: share(true), not: share(false) })
  }
  console.table(rows)
}

if (url !== undefined) {
  const pairs = data.flatMap((article, place) => (place % 2 === 1 ? pairsOf(article, place) : []))
  const rows = []
  for (const kind of KINDS) {
    const all = pairs.filter((pair) => pair.kind === kind)
    const step = Math.max(1, Math.floor(all.length / Number(judgedPairs)))
    const some = all.filter((_, place) => place % step === 0).slice(0, Number(judgedPairs))
    let [judged, byModel, byWords] = [0, 0, 0]
    for (const pair of some) {
      const { words, model } = await judgedBy(pair, modelAt(url))
      if (model !== undefined) judged++
      if (model === false) byModel++
      if (words === false) byWords++
    }
    rows.push({ kind, pairs: some.length, judged, 'not, model': byModel, 'not, words': byWords })
    console.table(rows)
  }
}

async function verdictOf(pair: Pair): Promise<boolean | undefined> {
  const [cited] = (await checked(pair)).cited
  return cited?.citation.supported
}

/** What the words say of a pair, and what the model says, if its verdict can be read. */
async function judgedBy(pair: Pair, model: Reader['model']) {
  const { cited, hits } = await checked(pair)
  const { signal } = new AbortController()
  const reader = { model, meter: UNMETERED, hits, termsOf, room: Number.POSITIVE_INFINITY }
  const { citations, check } = await judgeStatements(cited, reader, signal)
  return {
    words: cited[0]?.citation.supported,
    model: check.statements > 0 ? citations[0]?.supported : undefined,
  }
}

async function checked({ statement, passage: text, title }: Pair) {
  const hits = [{ id: '', score: 1, documentId: '', start: 0, end: text.length, title, text }]
  const options = { termsOf, isJsonAsked: false, writerOf: () => 'model' as const }
  const { signal } = new AbortController()
  return { hits, cited: await checkStatements(`${statement} [1]`, hits, options, signal) }
}

/** A model behind `/chat/completions`, asked for JSON of a schema at temperature 0. */
function modelAt(base: string): Reader['model'] {
  return {
    name: 'model',
    async *stream({ messages, sampling }, signal) {
      const { format, maxTokens } = sampling
      const schema = format?.type === 'json-schema' && { name: format.name, schema: format.schema }
      const response = await fetch(`${base}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        signal,
        body: JSON.stringify({
          model: 'model',
          messages,
          temperature: 0,
          max_tokens: maxTokens,
          ...(schema && { response_format: { type: 'json_schema', json_schema: schema } }),
        }),
      })
      const { choices } = Completion.parse(await response.json())
      yield [{ type: 'text-delta', text: choices[0]?.message.content ?? '' }]
    },
  }
}

function articlesOf(path: string): Article[] {
  return z.object({ data: z.array(Article) }).parse(JSON.parse(readFileSync(path, 'utf8'))).data
}

function pairsOf({ title, paragraphs }: Article, place: number): Pair[] {
  const other = (place + 5) % data.length
  const isName = nameTestOf(place)
  const isNoun = (word: string) => !isName(word)
  const otherNames = capitalisedIn(data[other]).filter(nameTestOf(other))
  const otherNouns = capitalisedIn(data[other]).filter((word) => !nameTestOf(other)(word))
  const copies = paragraphs.flatMap(({ context }) => [
    ...exchanged('other number', context, NUMBER),
    ...exchanged('other name', context, NAME, isName),
    ...exchanged('other noun', context, NAME, isNoun),
  ])
  const answers = paragraphs.flatMap(({ context, qas }, index) => {
    const other = paragraphs[(index + 1) % paragraphs.length]?.context ?? ''
    return qas.flatMap(({ question, answers }, at) => {
      const statement = answered(question, answers[0]?.text ?? '')
      if (statement === undefined) return []
      const wrong = qas[(at + 1) % qas.length]?.answers[0]?.text ?? ''
      const changed: [Pair['kind'], string | undefined][] = [
        ['true', statement],
        ['number', statement.replace(/\d+/, (number) => String(Number(number) + 3))],
        ['name', withOther(statement, isName, otherNames[at % otherNames.length])],
        ['noun', withOther(statement, isNoun, otherNouns[at % otherNouns.length])],
        ['answer', answered(question, wrong)],
        ['negation', statement.replace(VERBS[analyserLanguage], NEGATED[analyserLanguage])],
      ]
      const made = changed.flatMap(([kind, text]) => {
        const isChanged = kind === 'true' || text !== statement
        return text !== undefined && isChanged ? { kind, statement: text, passage: context } : []
      })
      const apart = { kind: 'passage' as const, statement, passage: other }
      return [...made, apart]
    })
  })
  return [...answers, ...copies].map((pair) => ({ ...pair, title: title.replaceAll('_', ' ') }))
}

/** Each sentence of a text with the first number or name of another sentence in the place of its own first one. */
function exchanged(
  kind: Pair['kind'],
  passage: string,
  pattern: RegExp,
  isMeant = (_: string) => true,
): Omit<Pair, 'title'>[] {
  const sentences = sentencesOf(passage).map(({ start, end }) => passage.slice(start, end))
  return sentences.flatMap((sentence) => {
    const own = sentence.match(pattern)?.find(isMeant)
    const other = sentences
      .flatMap((each) => each.match(pattern) ?? [])
      .find((value) => isMeant(value) && !sentence.includes(value))
    return own === undefined || other === undefined
      ? []
      : [{ kind, passage, statement: sentence.replace(own, other) }]
  })
}

function answered(question: string, answer: string): string | undefined {
  const statement = question.replace(QUESTION_WORDS[analyserLanguage], `${answer} `)
  return statement === question ? undefined : statement.replace(/^¿/, '').replace(/\?+\s*$/, '')
}

/** A statement with another word in the place of its names or nouns. */
function withOther(statement: string, isMeant: (word: string) => boolean, other?: string) {
  return statement.replace(NAME, (word) => (isMeant(word) ? (other ?? word) : word))
}

/** Without parallel texts, every word with a capital counts as a name. */
function nameTestOf(place: number): (word: string) => boolean {
  if (!parallel) return () => true
  const { paragraphs = [] } = parallel[place] ?? {}
  const texts = paragraphs.flatMap(({ context, qas }) => [
    context,
    ...qas.map(({ question }) => question),
  ])
  const names = new Set(texts.join(' ').match(NAME))
  // `Polens` is Poland, but `Luthers` is Luther.
  return (word) => names.has(word) || names.has(word.replace(/s$/, ''))
}

function capitalisedIn(article: Article | undefined): string[] {
  const text = article?.paragraphs.map(({ context }) => context).join(' ') ?? ''
  return [...new Set(Array.from(text.matchAll(NAME), ([name]) => name))]
}
