import type { ModelToolCall } from '@agent-server/models'
import type { AgentEvent, RunEnd } from '@agent-server/wire'
import { finishOf, inputOf, RunCollector, textOf, toAgentExtra } from '@agent-server/wire'
import type { OllamaChatAnswer, OllamaGenerateAnswer } from './schema.ts'

/** What a line has. */
interface LineContent {
  content: string
  thinking?: string
  calls?: readonly ModelToolCall[]
}

export function chatFields({
  content,
  thinking,
  calls,
}: LineContent): Pick<OllamaChatAnswer, 'message'> {
  return {
    message: {
      role: 'assistant',
      content,
      ...(thinking && { thinking }),
      ...(calls && { tool_calls: calls.map(toToolCall) }),
    },
  }
}

export function generateFields({
  content,
  thinking,
}: LineContent): Pick<OllamaGenerateAnswer, 'response' | 'thinking'> {
  return { response: content, ...(thinking && { thinking }) }
}

/** The answer to a request that asks nothing: clients send it to have the model loaded. */
export function loadedAnswer<Place>(model: string, toFields: (line: LineContent) => Place) {
  return {
    ...headOf(model),
    ...toFields({ content: '' }),
    done: true,
    done_reason: 'load' as const,
  }
}

/** Converts a run into the lines of an answer, and collects them into one. */
export function createOllamaWriter<Place>(
  model: string,
  showsThinking: boolean,
  toFields: (line: LineContent) => Place,
) {
  const startedAt = performance.now()
  const run = new RunCollector()
  let firstAt: number | undefined

  const newLine = (line: LineContent) => {
    firstAt ??= performance.now()
    return { ...headOf(model), ...toFields(line), done: false }
  }
  const lastLine = (line: LineContent) => ({
    ...headOf(model),
    ...toFields(line),
    done: true,
    done_reason: finishOf(run.end) === 'length' ? ('length' as const) : ('stop' as const),
    ...figuresOf(run.end, startedAt, firstAt),
    agent: toAgentExtra(run.end),
  })

  const toLines = (event: AgentEvent) => {
    switch (event.type) {
      case 'text-delta':
      case 'approval-required':
        return [newLine({ content: textOf(event) })]
      case 'reasoning-delta':
        return showsThinking ? [newLine({ content: '', thinking: event.text })] : []
      case 'client-tool-calls':
        return [newLine({ content: '', calls: event.calls })]
      case 'retrieved':
      case 'search-step':
      case 'citations':
      case 'tool-call':
      case 'tool-progress':
      case 'tool-result':
      case 'progress':
        return []
      case 'run-end':
        return [lastLine({ content: '' })]
      default:
        return event satisfies never
    }
  }

  return {
    write(events: readonly AgentEvent[]) {
      run.take(events)
      return events.flatMap(toLines)
    },
    whole() {
      const { textWithApproval: content, calls } = run
      const thinking = showsThinking ? run.thinking : ''
      return lastLine({ content, thinking, ...(calls.length > 0 && { calls }) })
    },
  }
}

const headOf = (model: string) => ({ model, created_at: new Date().toISOString() })

/** Ollama's figures, in nanoseconds and tokens. */
function figuresOf({ usage }: RunEnd, startedAt: number, firstAt = performance.now()) {
  const now = performance.now()
  return {
    total_duration: nanoseconds(now - startedAt),
    load_duration: 0,
    ...(usage && { prompt_eval_count: usage.promptTokens }),
    prompt_eval_duration: nanoseconds(firstAt - startedAt),
    ...(usage && { eval_count: usage.completionTokens }),
    eval_duration: nanoseconds(now - firstAt),
  }
}

export const nanoseconds = (ms: number) => Math.max(0, Math.round(ms * 1e6))

function toToolCall(call: ModelToolCall, index: number) {
  const { callId, name } = call
  return { id: callId, function: { index, name, arguments: inputOf(call) } }
}
