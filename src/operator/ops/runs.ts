import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import type { ModelMessage } from '@agent-server/models'
import type { Run, RunList, RunListQuery } from '@agent-server/schemas/operator/run.ts'
import type { RunStore } from '@agent-server/stores'
import type { AgentRequest } from '@agent-server/wire'
import type { Answer } from '../../agent/run/model-turn.ts'
import type { FinishedRun } from '../../agent/run/run-limiter.ts'
import type { RunTrace, RunTraces } from '../../agent/run/run-trace.ts'

/** UTF-16 code units of all texts of a run, of one of them, and of a passage or a question in a list. */
const MAX_CHARACTERS = 200_000
const MAX_TEXT = 20_000
const MAX_EXCERPT = 500
/** The maximum number of entries of one run that are kept: the first ones. */
const MAX_SEARCHES = 20
const MAX_HITS = 100
const MAX_MODEL_CALLS = 40
const MAX_MESSAGES = 200
const MAX_TOOLS = 100
const MAX_TOOL_CALLS = 200

/** Runs are stored together: so many, or those of so long. */
const BATCH = 10
const STORE_MS = 250
/** Runs that wait to be stored; while the store does not answer, later ones are not kept. */
const MAX_WAITING = 40

interface Dependencies {
  store: RunStore
  /** The number of runs that are kept. */
  maximum: number
  log: Pick<Log, 'warn'>
}

export type RunHistory = ReturnType<typeof createRunHistory>

/** The last runs of the agent, in the store. */
export function createRunHistory({ store, maximum, log }: Dependencies) {
  const waiting: Parameters<RunStore['add']>[0][number][] = []
  let timer: NodeJS.Timeout | undefined
  let stored = Promise.resolve()

  const storeBatch = async () => {
    const runs = waiting.splice(0)
    if (runs.length === 0) return
    try {
      await store.add(runs, maximum)
    } catch (error) {
      log.warn({ err: error, runs: runs.map(({ id }) => id) }, 'runs were not stored')
    }
  }
  /** Resolves when all runs are stored. */
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    stored = stored.then(storeBatch)
    return stored
  }

  const keep = (run: Run) => {
    if (waiting.length >= MAX_WAITING) {
      log.warn({ run: run.id }, 'a run was not stored: the store cannot keep up')
      return
    }
    const { id, startedAt, milliseconds, outcome, conversationId, answerId, key, person } = run
    const question = excerpt(run.question, MAX_EXCERPT)
    const request = { question, conversationId, answerId, key, person }
    const summary = JSON.stringify({ id, startedAt, milliseconds, outcome, ...request })
    waiting.push({ id, answerId, owner: person, summary, json: JSON.stringify(run) })
    if (waiting.length === BATCH) void flush()
    else timer ??= setTimeout(() => void flush(), STORE_MS).unref()
  }

  return {
    /** For the runs of one agent, whose secrets are never shown. */
    hiding(secrets: readonly string[]): RunTraces {
      const hide = (text: string) =>
        secrets.reduce((start, secret) => start.replaceAll(secret, '[secret]'), text)
      return { begin: (request) => createTrace(request, createTexts(hide), keep) }
    },
    /** Includes those that have ended before. */
    async list(query: RunListQuery): Promise<RunList> {
      await flush()
      if (maximum === 0) return { runs: [] }
      return { runs: (await store.list(query)).map((summary) => JSON.parse(summary)) }
    },
    /** Throws `run_not_found`. */
    async get(id: string): Promise<Run> {
      await flush()
      const json = await store.find(id)
      if (json !== undefined) return JSON.parse(json)
      const message = `There is no run "${id}": only the last ${maximum} are kept, for 30 days`
      throw new AppError('run_not_found', message, { param: 'id' })
    },
    /** Resolves when all runs are stored. */
    close: flush,
  }
}

type Texts = ReturnType<typeof createTexts>

/** Takes texts without secrets, each cut to its own bound and to what is left of that of all. */
function createTexts(hide: (text: string) => string) {
  let remaining = MAX_CHARACTERS
  return (text: string, maximum = MAX_TEXT): string => {
    // A secret that begins before the end is hidden whole.
    const room = Math.min(maximum, remaining)
    const part = excerpt(hide(text.slice(0, room * 2)), room, text.length)
    remaining -= Math.min(part.length, room)
    return part
  }
}

/** The beginning of a text, with a note of how much of its `length` is missing. */
function excerpt(text: string, maximum: number, length = text.length): string {
  if (Math.max(text.length, length) <= maximum) return text
  const shown = text.slice(0, maximum).toWellFormed()
  return `${shown}\n[${length - shown.length} more characters]`
}

function createTrace(request: AgentRequest, take: Texts, keep: (run: Run) => void): RunTrace {
  const id = newId('run')
  const startedAt = new Date().toISOString()
  const { conversationId, answerId, caller, messages } = request
  const lastQuestion = messages.findLast(({ role }) => role === 'user')
  const question = take(lastQuestion?.content ?? '')
  const searches: Run['searches'] = []
  const modelCalls: Run['modelCalls'] = []
  const toolCalls: Run['toolCalls'] = []
  let before: readonly ModelMessage[] = []
  let began = performance.now()

  return {
    id,
    searched(query, hits) {
      if (searches.length >= MAX_SEARCHES) return
      const topHits = hits.slice(0, MAX_HITS).map(({ documentId, score, stages, ...hit }) => ({
        id: hit.id,
        documentId,
        title: take(hit.title, MAX_EXCERPT),
        ...(hit.heading !== undefined && { heading: take(hit.heading, MAX_EXCERPT) }),
        score,
        ...(stages && { stages }),
        text: take(hit.text, MAX_EXCERPT),
      }))
      searches.push({ query: take(query), hits: topHits })
    },
    asked({ messages, tools }) {
      began = performance.now()
      const same = sameAtStart(before, messages)
      before = messages
      if (modelCalls.length >= MAX_MODEL_CALLS) return
      const others = messages.slice(same, same + MAX_MESSAGES)
      modelCalls.push({
        same,
        messages: others.map((message) => toMessage(message, take)),
        tools: tools.slice(0, MAX_TOOLS).map(({ name }) => name),
      })
    },
    answered({ text, calls, reason, usage }: Answer) {
      const call = modelCalls.at(-1)
      if (!call || call.milliseconds !== undefined) return
      call.milliseconds = performance.now() - began
      call.answer = take(text)
      call.finishReason = calls.length > 0 ? 'tool_calls' : reason
      if (usage) call.usage = usage
    },
    called({ name, input }, { output, isError }, milliseconds) {
      if (toolCalls.length >= MAX_TOOL_CALLS) return
      const tool = take(name, MAX_EXCERPT)
      const inputText = take(JSON.stringify(input) ?? '')
      toolCalls.push({ tool, input: inputText, output: take(output), isError, milliseconds })
    },
    ended({ outcome, milliseconds, firstDelta, usage }: FinishedRun, error) {
      const key = caller?.key && `${caller.key.name} (${caller.key.id})`
      keep({
        id,
        startedAt,
        milliseconds,
        outcome,
        question,
        ...(conversationId !== undefined && { conversationId }),
        ...(answerId !== undefined && { answerId }),
        ...(key && { key }),
        ...(caller?.person && { person: caller.person.id }),
        ...(firstDelta !== undefined && { firstDelta }),
        ...(usage && { usage }),
        searches,
        modelCalls,
        toolCalls,
        // The log has the details of any other error.
        ...(error instanceof AppError && {
          error: { code: error.code, message: take(error.message) },
        }),
      })
    },
  }
}

function sameAtStart(before: readonly ModelMessage[], messages: readonly ModelMessage[]): number {
  const first = messages.findIndex((message, place) => {
    const other = before[place]
    return other?.role !== message.role || other.content !== message.content
  })
  return first === -1 ? messages.length : first
}

function toMessage(
  message: ModelMessage,
  take: Texts,
): Run['modelCalls'][number]['messages'][number] {
  const { role, content } = message
  const images = role === 'user' ? (message.images ?? []) : []
  const calls = role === 'assistant' ? (message.toolCalls ?? []) : []
  return {
    role,
    content: take(content),
    ...(images.length > 0 && { images: images.length }),
    ...(calls.length > 0 && {
      calls: calls
        .slice(0, MAX_TOOL_CALLS)
        .map((call) => ({ name: take(call.name, MAX_EXCERPT), arguments: take(call.arguments) })),
    }),
  }
}
