/**
 * How well `supported` of a citation tells true statements from false ones, measured on pairs made of questions and
 * answers about paragraphs, in the JSON format of SQuAD and XQuAD. A true statement is the question with its answer in
 * the place of the question word. False ones are the same beside another paragraph of the article, with another number
 * or name, with the answer of another question, or with a negation. A sentence of the paragraph itself is false with a
 * number or name of another one of its sentences.
 *
 *     node scripts/eval-citations.ts <xquad.en.json> [english]
 */
import { readFileSync } from 'node:fs'
import { ANALYSER_LANGUAGES, createAnalyser } from '@agent-server/search'
import { z } from 'zod'
import { checkStatements } from '../src/agent/citations/cited-statements.ts'
import { sentencesOf } from '../src/agent/citations/sentences.ts'

const Question = z.object({
  question: z.string(),
  answers: z.array(z.object({ text: z.string() })).min(1),
})
const Paragraph = z.object({ context: z.string(), qas: z.array(Question) })
const Article = z.object({ title: z.string().default(''), paragraphs: z.array(Paragraph).min(1) })
type Article = z.output<typeof Article>

const QUESTION_WORDS = {
  english:
    /\b(?:how (?:many|much|long|old|far)|what|who|whom|where|when|which|whose|why|how)(?: \w+)?\b/i,
  german: /\b(?:wie viele?|was|wer|wen|wem|wo|wann|welche[rsnm]?|wie|warum)\b/i,
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
  'negation',
  'answer',
  'other number',
  'other name',
] as const
type Pair = { kind: (typeof KINDS)[number]; statement: string; passage: string; title: string }

const [file, language = 'english'] = process.argv.slice(2)
const analyserLanguage = z.enum(['english', 'german', 'spanish', 'french']).parse(language)
if (file === undefined) throw new Error('Name a file in the format of SQuAD.')
const { data } = z.object({ data: z.array(Article) }).parse(JSON.parse(readFileSync(file, 'utf8')))
const analyser = createAnalyser(z.enum(ANALYSER_LANGUAGES).parse(language))
const termsOf = (text: string) => analyser.query(text).terms

// The second half was looked at only for the table.
for (const half of [0, 1]) {
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

async function verdictOf({ statement, passage: text, title }: Pair): Promise<boolean | undefined> {
  const hit = { id: '', score: 1, documentId: '', start: 0, end: text.length, title, text }
  const options = { termsOf, isJsonAsked: false, writerOf: () => 'model' as const }
  const { signal } = new AbortController()
  const [cited] = await checkStatements(`${statement} [1]`, [hit], options, signal)
  return cited?.citation.supported
}

function pairsOf({ title, paragraphs }: Article, place: number): Pair[] {
  const others = namesOf(data[(place + 5) % data.length])
  const copies = paragraphs.flatMap(({ context }) => [
    ...exchanged('other number', context, NUMBER),
    ...exchanged('other name', context, NAME),
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
        ['name', statement.replace(NAME, others[at % others.length] ?? '$&')],
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
function exchanged(kind: Pair['kind'], passage: string, pattern: RegExp): Omit<Pair, 'title'>[] {
  const sentences = sentencesOf(passage).map(({ start, end }) => passage.slice(start, end))
  return sentences.flatMap((sentence) => {
    const [own] = sentence.match(pattern) ?? []
    const other = sentences
      .flatMap((each) => each.match(pattern) ?? [])
      .find((value) => !sentence.includes(value))
    return own === undefined || other === undefined
      ? []
      : [{ kind, passage, statement: sentence.replace(own, other) }]
  })
}

function answered(question: string, answer: string): string | undefined {
  const statement = question.replace(QUESTION_WORDS[analyserLanguage], `${answer} `)
  return statement === question ? undefined : statement.replace(/^¿/, '').replace(/\?+\s*$/, '')
}

function namesOf(article: Article | undefined): string[] {
  const text = article?.paragraphs.map(({ context }) => context).join(' ') ?? ''
  return [...new Set(Array.from(text.matchAll(NAME), ([name]) => name))]
}
