import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type {
  AgentServer,
  Artifact,
  ChatRequest,
  ChatResult,
  ChatStream,
  Resume,
} from '../agent-server.ts'
import {
  type Command,
  type CommandContext,
  closest,
  EXIT,
  readParameters,
  readSearch,
  SEARCH_OPTIONS,
  UsageError,
} from './command.ts'
import { decide } from './decide.ts'
import { describeHit } from './query.ts'
import { plain, shorten, type Terminal, table } from './terminal.ts'

const STEP_WIDTH = 100
/** Messages kept of a conversation; the server cuts it further, to what its model takes. */
const MAX_MESSAGES = 200

const OPTIONS = {
  ...SEARCH_OPTIONS,
  save: { type: 'string' },
  quiet: { type: 'boolean', short: 'q' },
} as const

export const chat: Command = {
  summary: 'Ask the agent, once or in a conversation',
  help: `Usage: agent-server-client chat [question] [options]

Streams the answer, followed by its citations. Without a question, starts a conversation in a terminal; otherwise
reads the question from standard input.

  --top-k N            passages of the first search, 1 to 100
  --mode MODE          hybrid, lexical (keywords only) or dense (meaning only)
  --effort EFFORT      low, medium or high: how hard to search
  --collection NAME    only documents of this collection
  --filter NAME=VALUE  only documents with this metadata; repeatable
  --save FOLDER        save files that tools create to this folder
  -q, --quiet          hide tool calls and the list of citations
  --json               print the complete answer as JSON: text, hits, usage, artifacts

Examples:
  agent-server-client chat When does the library open on Saturdays
  agent-server-client chat
  git diff | agent-server-client chat --json`,
  options: OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, OPTIONS)
    const settings = readSearch(values)
    const client = await context.connect(values.url)
    const { terminal, signal } = context
    const quiet = values.quiet === true || terminal.json
    const talk: Talk = { client, terminal, settings, quiet, save: values.save }
    const question = positionals.join(' ').trim()
    if (question === '' && terminal.stdin.isTTY) return converse(talk, context)
    const content = question || (await readText(terminal.stdin)).trim()
    if (content === '') throw new UsageError('chat takes a question')
    const result = await ask(talk, [{ role: 'user', content }], signal)
    if (terminal.json) terminal.printJson(result)
    return EXIT.done
  },
}

interface Talk {
  client: AgentServer
  terminal: Terminal
  settings: Omit<ChatRequest, 'messages'>
  quiet: boolean
  save: string | undefined
}

type Messages = ChatRequest['messages']

/** Gets one answer and shows it as it arrives, unless JSON is wanted. */
async function ask(
  talk: Talk,
  messages: Messages,
  signal: AbortSignal,
  resume?: Resume,
): Promise<ChatResult> {
  const { client, terminal, settings, quiet, save } = talk
  const request = { ...settings, messages, includeSteps: !quiet, ...(resume && { resume }) }
  const stream = client.chat(request, { signal })
  if (!terminal.json) show(stream, terminal)
  const result = await stream.result()
  if (!terminal.json) terminal.stdout.write('\n')
  if (!terminal.json) listWaiting(terminal, result)
  if (!quiet) listCitations(terminal, result)
  for (const artifact of result.artifacts) await keep(talk, artifact, save, signal)
  return result
}

function show(stream: ChatStream, terminal: Terminal): void {
  stream.on('text', (fragment) => void terminal.stdout.write(plain(fragment)))
  stream.on('tool', (step) => {
    const words =
      step.type === 'tool-call'
        ? `${step.tool} ${JSON.stringify(step.input)}`
        : `${step.isError ? 'failed' : '='} ${step.output}`
    terminal.note(terminal.style('dim', `  ${shorten(words, STEP_WIDTH)}`))
  })
}

function listWaiting(terminal: Terminal, { approval }: ChatResult): void {
  for (const { tool, input, elicitations } of approval?.calls ?? []) {
    if (!elicitations) {
      terminal.note(`Waiting for approval: ${plain(`${tool} ${JSON.stringify(input)}`)}`)
    }
    for (const { message } of elicitations ?? []) terminal.note(plain(`${tool} asks: ${message}`))
  }
}

/** Lists only the hits that the answer cites, in order of their numbers. */
function listCitations(terminal: Terminal, { text, hits, limitsReached }: ChatResult): void {
  const cited = new Set(Array.from(text.matchAll(/\[(\d{1,3})\]/g), ([, number]) => Number(number)))
  const lines = hits.flatMap((hit, index) =>
    cited.has(index + 1) ? [describeHit(hit, index + 1)] : [],
  )
  if (lines.length > 0) terminal.print(`\n${lines.join('\n')}`)
  if (limitsReached) terminal.note('The agent reached a limit: the answer may be incomplete')
}

async function keep(
  { client, terminal }: Talk,
  artifact: Artifact,
  folder: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (folder === undefined) return terminal.note(`Created ${plain(artifact.name)}: ${artifact.url}`)
  await mkdir(folder, { recursive: true })
  const { body } = await client.artifacts.download(artifact, { signal })
  // Only the base name, so that it cannot lead out of the folder.
  const path = join(folder, basename(artifact.name))
  await pipeline(Readable.from(body ?? []), createWriteStream(path))
  terminal.note(`Created ${path}`)
}

const TYPED = {
  '/help': 'Show this',
  '/new': 'Begin a new conversation',
  '/exit': 'Leave, as Ctrl+D does',
}

/** Explains what can be typed besides questions. */
function showHelp({ note }: Terminal, word: string): void {
  if (Object.hasOwn(TYPED, word)) {
    for (const line of table(Object.entries(TYPED))) note(line)
    note('Ctrl+C stops an answer or, while there is none, leaves')
  } else {
    const closestName = closest(word, Object.keys(TYPED))
    note(
      `There is no ${word}: ${closestName ? `did you mean ${closestName}?` : '/help shows what there is'}`,
    )
  }
}

/**
 * Questions and answers in turn until the end of input; an interrupt stops the current answer or, if there is none,
 * the conversation.
 */
async function converse(talk: Talk, { terminal, signal }: CommandContext): Promise<number> {
  const { stdin: input, stderr: output } = terminal
  const reader = createInterface({ input, output, prompt: terminal.style('bold', '> ') })
  let messages: Messages = []
  let answering: AbortController | undefined
  // Input may end while an answer arrives.
  const closed = new AbortController()
  reader.once('close', () => closed.abort())
  const interrupt = () => (answering ? answering.abort() : reader.close())
  reader.on('SIGINT', interrupt)
  signal.addEventListener('abort', () => reader.close(), { once: true })
  const askLine = (words: string, ended: AbortSignal) =>
    new Promise<string>((resolve) => {
      const either = AbortSignal.any([ended, closed.signal])
      if (either.aborted) return resolve('')
      either.addEventListener('abort', () => resolve(''), { once: true })
      reader.question(words, { signal: either }, (line) => resolve(line.trim()))
    })
  reader.prompt()
  for await (const line of reader) {
    const word = line.trim()
    if (word === '/exit') reader.close()
    else if (word === '/new') messages = []
    else if (/^\/[a-z]+$/.test(word)) showHelp(terminal, word)
    else if (word !== '') {
      answering = new AbortController()
      const either = AbortSignal.any([signal, answering.signal])
      const conversation = [...messages, { role: 'user' as const, content: line }]
      messages = await answer(talk, conversation, { either, ended: signal, askLine })
      answering = undefined
    }
    if (!closed.signal.aborted) reader.prompt()
  }
  return EXIT.done
}

interface Ways {
  /** Aborts the answer. */
  either: AbortSignal
  /** Aborts the command. */
  ended: AbortSignal
  /** Asks for a line in the terminal; resolves with an empty one if it closes, or if the waiting call is aborted. */
  askLine: (words: string, ended: AbortSignal) => Promise<string>
}

/** Returns the conversation with its answer; if there is none, reports why and drops the last question. */
async function answer(
  talk: Talk,
  conversation: Messages,
  { either, ended, askLine }: Ways,
): Promise<Messages> {
  try {
    const texts: string[] = []
    let resume: Resume | undefined
    do {
      const { text, approval } = await ask(talk, conversation, either, resume)
      texts.push(text)
      resume = approval && (await decide(approval, (words) => askLine(words, either)))
    } while (resume)
    const content = texts.filter(Boolean).join('\n\n')
    return [...conversation, { role: 'assistant' as const, content }].slice(-MAX_MESSAGES)
  } catch (error) {
    if (ended.aborted || !(error instanceof Error)) throw error
    talk.terminal.note(`\n${talk.terminal.style('red', plain(error.message))}`)
    return conversation.slice(0, -1)
  }
}
