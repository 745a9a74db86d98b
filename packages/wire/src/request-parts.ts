import type { ModelMessage, ModelTool } from '@agent-server/models'

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

/** A function of the client's own as the model is told of it. */
export function toClientTool({ name, description, parameters }: GivenFunction): ModelTool {
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
  }
}
