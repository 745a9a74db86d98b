import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { Agent, fetch } from 'undici'
import { z } from 'zod'
import { asShown, judge, type PromptQuestion, readPromptQuestions } from './eval/prompt-answers.ts'
import { type NumberedPassage, WORDINGS, type Wording } from './eval/prompt-wordings.ts'

const USAGE = `Usage: node scripts/eval-prompts.ts --url URL [options]

Asks a model's server the questions of scripts/eval/prompt-questions.json with each wording of the prompt, at temperature 0,
and prints how many facts and citations were right.

  --url URL      the address before /chat/completions
  --model NAME   the model's name on its server
  --half HALF    chosen (the questions that wordings are chosen on), held-out or all; chosen if not given
  --only NAMES   wordings, separated by semicolons
  --every N      only every Nth question
  --answers FILE write all answers as JSON
  --judge FILE   judge the answers in FILE without asking anything

Citations are judged as the server shows them, after its own check and repair, and as the model wrote them.`

/** Answers are short; a model that rambles is cut off. */
const MAX_TOKENS = 160
/** A model on a busy machine may take minutes until its first token. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    model: { type: 'string', default: 'model' },
    half: { type: 'string', default: 'chosen' },
    only: { type: 'string' },
    every: { type: 'string', default: '1' },
    answers: { type: 'string' },
    judge: { type: 'string' },
  },
})
if (values.url === undefined && values.judge === undefined) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}
const { url } = values

const NO_PASSAGE = { title: '', text: '' }

const Completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })),
  usage: z.object({ prompt_tokens: z.int() }),
})

interface Answer {
  wording: string
  question: PromptQuestion
  text: string
  promptTokens: number
}

const collection = readPromptQuestions()
const questions = collection.questions
  .filter(
    ({ heldOut = false }) => values.half === 'all' || heldOut === (values.half === 'held-out'),
  )
  .filter((_question, index) => index % Number(values.every) === 0)
const wordings = WORDINGS.filter(
  ({ name }) => values.only === undefined || values.only.split(';').includes(name),
)

const texts = new Set(questions.map(({ question }) => question))
const earlier: Answer[] = values.judge ? JSON.parse(await readFile(values.judge, 'utf8')) : []
const answers = values.judge
  ? earlier.filter(({ question }) => texts.has(question.question))
  : await askAll()
console.table(table())

/** Question by question: what the wordings have in common, the model's server has read already. */
async function askAll(): Promise<Answer[]> {
  const own: Answer[] = []
  for (const [index, question] of questions.entries()) {
    for (const wording of wordings) own.push(await askOne(wording, question))
    if (values.answers) await writeFile(values.answers, JSON.stringify(own, null, 1))
    process.stderr.write(`${index + 1} of ${questions.length} questions\n`)
  }
  return own
}

function table(): Record<string, ReturnType<typeof summary>> {
  return Object.fromEntries(
    wordings.map(({ name }) => [name, summary(answers.filter((one) => one.wording === name))]),
  )
}

async function askOne(wording: Wording, question: PromptQuestion): Promise<Answer> {
  const passages: NumberedPassage[] = question.passages.map((id, index) => ({
    number: index + 1,
    title: collection.passages[id]?.title ?? '',
    text: collection.passages[id]?.text ?? '',
  }))
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: values.model,
      temperature: 0,
      max_tokens: MAX_TOKENS,
      messages: [
        ...(wording.system === '' ? [] : [{ role: 'system', content: wording.system }]),
        ...exchangeOf(wording),
        { role: 'user', content: wording.user(passages, question.question) },
      ],
    }),
  })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const { choices, usage } = Completion.parse(await response.json())
  return {
    wording: wording.name,
    question,
    text: choices[0]?.message.content ?? '',
    promptTokens: usage.prompt_tokens,
  }
}

function exchangeOf({ exchange = [] }: Wording) {
  return exchange.map((content, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content,
  }))
}

function summary(own: readonly Answer[]) {
  const judged = own.map(({ text, question, promptTokens }) => {
    const passages = question.passages.map((id) => collection.passages[id] ?? NO_PASSAGE)
    const shown = asShown(text, passages)
    return {
      answerable: question.source !== undefined,
      promptTokens,
      ...judge(shown, question),
      byModel: judge(text, question).cited,
    }
  })
  const answerable = judged.filter((one) => one.answerable)
  const right = answerable.filter((one) => one.right)
  const both = right.filter((one) => one.cited)
  const byModel = right.filter((one) => one.byModel)
  const missing = judged.filter((one) => !one.answerable)
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  return {
    answerable: answerable.length,
    right: right.length,
    cited: answerable.filter((one) => one.cited).length,
    'right and cited by the model': byModel.length,
    'right and cited as shown': both.length,
    share: right.length === 0 ? 0 : Number((both.length / right.length).toFixed(2)),
    'also others': right.filter((one) => one.cited && one.other > 0).length,
    missing: `${missing.filter((one) => one.right).length}/${missing.length}`,
    unknown: sum(judged.map((one) => one.unknown)),
    'prompt tokens': Math.round(
      sum(judged.map((one) => one.promptTokens)) / Math.max(judged.length, 1),
    ),
  }
}
