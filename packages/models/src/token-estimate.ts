import type { ModelMessage, ModelTool } from './chat-model.ts'

/**
 * UTF-8 bytes per token: four letters in English, two in Cyrillic or Arabic, one or two characters in Chinese. Models
 * differ by about a third in either direction, which callers that fit text into a window must allow for.
 */
export const BYTES_PER_TOKEN = 4

/** The size of an image, in bytes of text: about a thousand tokens. */
const IMAGE_BYTES = 4_000

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/** Size of the messages in bytes of UTF-8, including tool call arguments and a fixed size per image. */
export function sizeOfMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    const images = message.role === 'user' ? (message.images ?? []) : []
    const sizes = [
      ...calls.map((call) => Buffer.byteLength(call.arguments)),
      ...images.map(() => IMAGE_BYTES),
    ]
    return sizes.reduce((all, size) => all + size, sum + Buffer.byteLength(message.content))
  }, 0)
}

/** What a list adds to a definition: the names of its fields, quotation marks and commas. */
const AROUND_TOOL = 43
const schemaSizes = new WeakMap<object, number>()

/** Size of the definitions of tools, as JSON in bytes of UTF-8. Their schemas, the most of it, are measured once. */
export function sizeOfTools(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, { name, description, parameters }) => {
    let schemaSize = schemaSizes.get(parameters)
    if (schemaSize === undefined) {
      schemaSize = Buffer.byteLength(JSON.stringify(parameters))
      schemaSizes.set(parameters, schemaSize)
    }
    return sum + AROUND_TOOL + Buffer.byteLength(name) + Buffer.byteLength(description) + schemaSize
  }, 0)
}
