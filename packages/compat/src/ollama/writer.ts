import type { ModelToolCall } from '@agent-server/models'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import type { AgentEvent, RunEnd } from '@agent-server/wire'
import { inputOf, textOf, toAgentExtra } from '@agent-server/wire'
import type { OllamaChatAnswer, OllamaGenerateAnswer } from './schema.ts'

type DoneReason = NonNullable<OllamaChatAnswer['done_reason']>

/** Maps the run's reason to Ollama's; the original is sent in `agent`. */
const DONE_REASON: Record<RunFinishReason, DoneReason> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'stop',
  tool_calls: 'stop',
  round_limit: 'stop',
  call_limit: 'stop',
  time_limit: 'length',
  token_limit: 'length',
  approval_required: 'stop',
}

/** What a line says. */
interface Said {
  content: string
  thinking?: string
  calls?: readonly ModelToolCall[]
}

export function sayInChat({ content, thinking, calls }: Said): Pick<OllamaChatAnswer, 'message'> {
  return {
    message: {
      role: 'assistant',
      content,
      ...(thinking && { thinking }),
      ...(calls && { tool_calls: calls.map(toToolCall) }),
    },
  }
}

export function sayInGenerate({
  content,
  thinking,
}: Said): Pick<OllamaGenerateAnswer, 'response' | 'thinking'> {
  return { response: content, ...(thinking && { thinking }) }
}

/** The answer to a request that asks nothing: clients send it to have the model loaded. */
export function loadedAnswer<Place>(model: string, say: (said: Said) => Place) {
  return { ...headOf(model), ...say({ content: '' }), done: true, done_reason: 'load' as const }
}

/** Converts a run into the lines of an answer, and collects them into one. */
export function createOllamaWriter<Place>(
  model: string,
  showsThinking: boolean,
  say: (said: Said) => Place,
) {
  const began = performance.now()
  let firstAt: number | undefined
  let content = ''
  let thinking = ''
  let calls: readonly ModelToolCall[] | undefined
  let end: RunEnd | undefined

  const line = (said: Said) => {
    firstAt ??= performance.now()
    return { ...headOf(model), ...say(said), done: false }
  }
  const lastLine = (said: Said, run: RunEnd) => ({
    ...headOf(model),
    ...say(said),
    done: true,
    done_reason: DONE_REASON[run.reason],
    ...figuresOf(run, began, firstAt),
    agent: toAgentExtra(run),
  })

  const toLines = (event: AgentEvent) => {
    switch (event.type) {
      case 'text-delta':
      case 'approval-required': {
        const text = textOf(event)
        content += text
        return [line({ content: text })]
      }
      case 'reasoning-delta':
        if (!showsThinking) return []
        thinking += event.text
        return [line({ content: '', thinking: event.text })]
      case 'client-tool-calls':
        calls = event.calls
        return [line({ content: '', calls })]
      case 'retrieved':
      case 'search-step':
      case 'tool-call':
      case 'tool-result':
      case 'progress':
        return []
      case 'run-end':
        end = event
        return [lastLine({ content: '' }, event)]
      default:
        return event satisfies never
    }
  }

  return {
    write: (events: readonly AgentEvent[]) => events.flatMap(toLines),
    whole() {
      if (!end) throw new Error('An agent run ended without run-end')
      return lastLine({ content, thinking, ...(calls && { calls }) }, end)
    },
  }
}

const headOf = (model: string) => ({ model, created_at: new Date().toISOString() })

/** Ollama's figures, in nanoseconds and tokens. */
function figuresOf({ usage }: RunEnd, began: number, firstAt = performance.now()) {
  const now = performance.now()
  return {
    total_duration: nanoseconds(now - began),
    load_duration: 0,
    ...(usage && { prompt_eval_count: usage.promptTokens }),
    prompt_eval_duration: nanoseconds(firstAt - began),
    ...(usage && { eval_count: usage.completionTokens }),
    eval_duration: nanoseconds(now - firstAt),
  }
}

export const nanoseconds = (ms: number) => Math.max(0, Math.round(ms * 1e6))

function toToolCall(call: ModelToolCall, index: number) {
  const { callId, name } = call
  return { id: callId, function: { index, name, arguments: inputOf(call) } }
}
