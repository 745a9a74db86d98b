import type { ModelMessage } from '@agent-server/models'
import type { ChatFrame, ChatRequest } from '@agent-server/schemas/chat.ts'
import type { ErrorBody } from '@agent-server/schemas/error.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentRequest } from '@agent-server/wire'
import {
  type DialectSettings,
  IMAGE_MARK,
  readAgentFields,
  type StreamDialect,
  toUserMessage,
} from '@agent-server/wire'
import type { Question } from '../../conversations/answers.ts'
import { toChatFrame } from '../../conversations/chat-frames.ts'

/** The server's own chat; its answers are always streamed. */
export function createChatDialect(
  settings: DialectSettings,
): StreamDialect<ChatRequest, ChatFrame> {
  return {
    read: (body, caller) => ({
      request: toAgentRequest(body, caller, settings),
      write: (events) => events.flatMap((event) => toChatFrame(event, body.includeSteps) ?? []),
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
  const { messages, agent = settings.modelName } = body
  return {
    ...readAgentFields(body, settings),
    ...(agent !== settings.modelName && { agent }),
    caller,
    messages: messages.flatMap((message, index) =>
      toModelMessage(message, `messages.${index}.images`, settings),
    ),
    instructions: messages.filter(({ role }) => role === 'system').map(({ content }) => content),
    sampling: { effort: body.reasoningEffort },
    clientTools: [],
  }
}

/** The question, if it belongs to a stored conversation. Throws like `toAgentRequest`. */
export function toQuestion(
  body: ChatRequest,
  caller: Caller,
  settings: DialectSettings,
): Question | undefined {
  const { conversation, includeSteps } = body
  if (!conversation) return undefined
  const { content: text = '', images = [] } = body.messages.at(-1) ?? {}
  const request = toAgentRequest(body, caller, settings)
  return { caller, conversation, text, images, request, includeSteps }
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
      `cannot be used: the chat model "${chatModel.name}" does not accept images. Add them as documents, whose text is recognised, or choose another model`,
    )
  }
  const marks = IMAGE_MARK.repeat(images.length)
  return [
    toUserMessage(
      `${content}${marks}`,
      images.map((url) => ({ url })),
    ),
  ]
}
