import type { ModelToolCall } from '../models/chat-model.ts'

/** Fields in which providers pass reasoning along with calls, in OpenAI's protocols. */
interface Reasoning {
  reasoning_content?: string | null | undefined
  reasoning_details?: Record<string, unknown>[] | null | undefined
}

/** What a client sends back of a call for the model's provider: `extra_content` of the call, reasoning of its message. */
export function toProviderData(
  extra_content: Record<string, unknown> | null | undefined,
  { reasoning_content, reasoning_details }: Reasoning,
): Pick<ModelToolCall, 'providerData'> {
  const message = {
    ...(reasoning_content && { reasoning_content }),
    ...(reasoning_details && { reasoning_details }),
  }
  const providerData = {
    ...(extra_content && { call: { extra_content } }),
    ...(Object.keys(message).length > 0 && { message }),
  }
  return Object.keys(providerData).length > 0 ? { providerData } : {}
}
