import type { AgentEvent, AgentRequest } from '../../agent/run/agent-event.ts'
import type { ModelMessage } from '../../models/chat-model.ts'
import type { ChatFrame, ChatRequest } from '../../schemas/chat.ts'
import type { ErrorBody } from '../../schemas/error.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import { toRunExtras } from '../answer-parts.ts'
import { type Dialect, type DialectSettings, readAgentFields } from '../dialect.ts'

/** The server's own chat; its answers are always streamed. */
type ChatDialect = Dialect<ChatRequest, ChatFrame, never>

export function createChatDialect(settings: DialectSettings): ChatDialect {
  return {
    read: (body, caller) => ({
      request: toAgentRequest(body, caller, settings),
      write: (events) => events.flatMap((event) => toChatFrame(event, body.includeSteps) ?? []),
      whole() {
        throw new Error('An answer of /chat is always streamed')
      },
    }),
    ...CHAT_FORMAT,
    encodeFailure: CHAT_FORMAT.encodeError,
  }
}

/** How the frames of the chat are sent. */
export const CHAT_FORMAT = {
  encode(frame: ChatFrame): string {
    const { type } = frame
    const name = type === 'done' || type === 'error' ? type : 'message'
    return `event: ${name}\ndata: ${JSON.stringify(frame)}\n\n`
  },
  encodeError: ({ error }: ErrorBody): string => CHAT_FORMAT.encode({ type: 'error', error }),
  end: '',
}

export function toAgentRequest(
  body: ChatRequest,
  caller: Caller,
  settings: DialectSettings,
): AgentRequest {
  const { messages } = body
  return {
    ...readAgentFields(body, settings),
    caller,
    conversation: {
      messages: messages.flatMap((message, index) =>
        toModelMessage(message, `messages.${index}.images`, settings),
      ),
      instructions: messages.filter(({ role }) => role === 'system').map(({ content }) => content),
    },
    sampling: { effort: body.reasoningEffort },
    clientTools: [],
  }
}

/** Throws AppError `invalid_request` for images that the model does not take. */
function toModelMessage(
  { role, content, images = [] }: ChatRequest['messages'][number],
  field: string,
  { chatModel }: DialectSettings,
): ModelMessage[] {
  if (role === 'system') return []
  if (images.length === 0) return [{ role, content }]
  if (!chatModel.supportsImages) {
    throw refusal(
      field,
      `cannot be used: the chat model "${chatModel.name}" takes no images. Add them as documents, whose text is recognised, or choose another model`,
    )
  }
  const marks = IMAGE_MARK.repeat(images.length)
  return [{ role: 'user', content: `${content}${marks}`, images: images.map((url) => ({ url })) }]
}

/** Takes the place of an image in the text. */
const IMAGE_MARK = '[image]'

/** Converts an agent event into a frame of the chat stream; undefined if the frame is not sent. */
export function toChatFrame(event: AgentEvent, includeSteps: boolean): ChatFrame | undefined {
  switch (event.type) {
    case 'text-delta':
    case 'approval-required':
      return event
    case 'search-step':
    case 'tool-call':
    case 'tool-result':
    case 'reasoning-delta':
    case 'progress':
      return includeSteps ? event : undefined
    case 'retrieved': {
      const { type, query, hits } = event
      return includeSteps ? { type, query, found: hits.length } : undefined
    }
    case 'client-tool-calls':
      return undefined
    case 'run-end': {
      const { usage } = event
      return { type: 'done', ...toRunExtras(event), ...(usage && { usage }) }
    }
    default:
      return event satisfies never
  }
}
