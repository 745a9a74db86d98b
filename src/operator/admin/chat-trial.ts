import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import {
  BYTES_PER_TOKEN,
  type ChatModel,
  type ModelRequest,
  type ModelTool,
  PromptTooLong,
} from '@agent-server/models'
import type { ModelTest } from '@agent-server/schemas/operator/admin.ts'
import { createCitations } from '../../agent/citations/citations.ts'
import { fitPrompt, type PromptOptions } from '../../agent/run/prompt.ts'
import { createWindow, type ModelWindow } from '../../agent/run/window.ts'
import { toModelTool } from '../../agent/tools/discover-tools.ts'
import type { ToolRegistry } from '../../agent/tools/registry.ts'
import { PASSAGES, RED_SQUARE } from './trial-passages.ts'

type ChatTest = NonNullable<ModelTest['chat']>

/** What every conversation begins with. */
export interface ConversationBeginning {
  prompt: PromptOptions
  tools: Pick<ToolRegistry, 'offering'>
}

interface Means {
  /** Absent while there is no agent; a chat is then tried without tools. */
  beginning?: ConversationBeginning | undefined
  log: Pick<Log, 'warn'>
}

/** UTF-16 code units of an answer that are shown. */
const MAX_ANSWER = 2_000
/** Maximum requests until a first question fits, as in a chat. */
const MAX_FITS = 4

const COUNT = 'Count from one to ten, in words, separated by commas.'
const WEATHER: ModelTool = {
  name: 'look_up_weather',
  description: 'The weather of a city at this moment.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}

/** Asks a first question as a chat would, then for a call of a tool, then about a picture. */
export async function tryChat(
  model: ChatModel,
  contextTokens: number,
  { beginning, log }: Means,
  signal: AbortSignal,
): Promise<ChatTest> {
  const window = createWindow({ model, contextTokens, log })
  await window.learn(signal)
  const assumed = window.size()
  let first = await askFirst(model, beginning, window, signal)
  // Some servers tell the window only now that they have loaded the model.
  await window.learn(signal)
  if (window.size() !== assumed) first = await askFirst(model, beginning, window, signal)
  const { answer, firstMilliseconds, promptTokens, bytes, batches, leftOut } = first
  const plain = {
    answer,
    ...(firstMilliseconds !== undefined && { firstMilliseconds }),
    promptTokens: promptTokens ?? Math.ceil(bytes / BYTES_PER_TOKEN),
    ...(promptTokens === undefined && { promptTokensEstimated: true as const }),
    ...(model.speed !== undefined && { tokensPerSecond: Math.round(model.speed * 10) / 10 }),
    streams: batches > 1,
    window: window.size(),
    leftOut: model.supportsTools ? leftOut : [],
  }
  const reasonings = [model.reasoning]
  const tools = await tryTool(model, signal)
  reasonings.push(model.reasoning)
  const images = await tryImage(model, signal)
  reasonings.push(model.reasoning)
  // A model need not reason about each of these.
  const reasoning = reasonings.find((one) => one && one !== 'none') ?? reasonings.at(-1)
  // Read last: another protocol may have been tried since.
  const { api } = model
  return { ...plain, tools, images, ...(api && { api }), ...(reasoning && { reasoning }) }
}

async function tryTool(model: ChatModel, signal: AbortSignal): Promise<ChatTest['tools']> {
  if (!model.supportsTools) return 'none'
  const content = 'What is the weather in Oslo? Look it up.'
  const { calls } = await ask(
    model,
    { messages: [{ role: 'user', content }], tools: [WEATHER], sampling: {}, chunks: [] },
    signal,
  )
  if (calls > 0) return 'called'
  // Read again, since it may only become known when the model is asked.
  return model.supportsTools ? 'ignored' : 'none'
}

async function tryImage(model: ChatModel, signal: AbortSignal): Promise<ChatTest['images']> {
  if (!model.supportsImages) return 'none'
  const content = 'Which colour does this picture have? Answer in one word.[image]'
  const messages = [{ role: 'user' as const, content, images: [{ url: RED_SQUARE }] }]
  try {
    const { answer } = await ask(model, { messages, tools: [], sampling: {}, chunks: [] }, signal)
    if (!model.supportsImages) return 'none'
    return /\bred\b/i.test(answer) ? 'seen' : 'ignored'
  } catch (error) {
    signal.throwIfAborted()
    // It has answered without one, so this is about the picture.
    if (error instanceof AppError) return 'none'
    throw error
  }
}

/** The answer to a first question, fitted again where the model refuses it as too long. */
async function askFirst(
  model: ChatModel,
  beginning: ConversationBeginning | undefined,
  window: ModelWindow,
  signal: AbortSignal,
) {
  const messages = [{ role: 'user' as const, content: COUNT }]
  const citations = createCitations()
  const chunks = citations.add(PASSAGES)
  for (let fits = 1; ; fits += 1) {
    let leftOut: string[] = []
    const { bytes, ...fitted } = fitPrompt(
      {
        prompt: '',
        ...beginning?.prompt,
        messages,
        instructions: [],
        hasExample: model.generates,
        chunks,
        citations,
        added: [],
        recalled: new Map(),
        sampling: {},
        clientTools: [],
        offered(tokens) {
          if (!beginning || !model.supportsTools) return []
          const offering = beginning.tools.offering(tokens)
          leftOut = offering.leftOut
          return offering.offered.map(toModelTool)
        },
      },
      window,
    )
    const request: ModelRequest = {
      messages: fitted.messages,
      tools: fitted.tools,
      // A call would be no answer.
      ...(fitted.tools.length > 0 && { toolChoice: 'none' }),
      sampling: {},
      chunks: fitted.chunks.map(({ hit }) => hit),
    }
    try {
      return { ...(await ask(model, request, signal)), bytes, leftOut }
    } catch (error) {
      if (!(error instanceof PromptTooLong) || fits === MAX_FITS) throw error
      window.refused(bytes, error)
    }
  }
}

async function ask(model: ChatModel, request: ModelRequest, signal: AbortSignal) {
  const start = performance.now()
  const result = { answer: '', batches: 0, calls: 0 }
  let firstMilliseconds: number | undefined
  let promptTokens: number | undefined
  for await (const events of model.stream(request, signal)) {
    const text = events.map((one) => (one.type === 'text-delta' ? one.text : '')).join('')
    if (text) {
      firstMilliseconds ??= Math.round(performance.now() - start)
      result.batches += 1
    }
    result.answer = (result.answer + text).slice(0, MAX_ANSWER)
    result.calls += events.filter(({ type }) => type === 'tool-call').length
    const end = events.at(-1)
    if (end?.type === 'finish') promptTokens = end.usage?.promptTokens
  }
  return { ...result, firstMilliseconds, promptTokens }
}
