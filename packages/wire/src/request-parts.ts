import { optional } from '@agent-server/lib/fields.ts'
import type { ModelMessage, ModelTool, ModelToolCall } from '@agent-server/models'
import { z } from 'zod'

/** UTF-16 code units of an image in base64, or of its URL. */
export const MAX_IMAGE = 30_000_000

export const ModelName = optional(z.string().min(1).max(256)).describe(
  'The agent, `<agent>:<collection>`, or `<agent>-plain` for the model without documents and tools. Any other name also selects the agent.',
)

/** Takes the place of an image in the text of a message. */
export const IMAGE_MARK = '[image]'

type Images = Extract<ModelMessage, { role: 'user' }>['images']

/** A message whose text has a mark for each image. */
export function toUserMessage(content: string, images: NonNullable<Images>): ModelMessage {
  return { role: 'user', content, ...(images.length > 0 && { images }) }
}

interface GivenFunction {
  name: string
  description?: string | null | undefined
  /** JSON Schema; absent if it takes none. */
  parameters?: Record<string, unknown> | null | undefined
}

/** A call of a tool that takes text: models know functions alone. */
export const toTextCall = (
  callId: string,
  { name, input }: { name: string; input: string },
): ModelToolCall => ({ callId, name, arguments: JSON.stringify({ input }) })

/** A function of the client's own in the form that the model gets. */
export function toClientTool({ name, description, parameters }: GivenFunction): ModelTool {
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
  }
}
