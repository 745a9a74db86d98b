import { isObject, nonEmptyString, parseJson } from '@agent-server/lib/text/json.ts'
import type { ReasoningPart } from '@agent-server/models'

/** The fields in which clients of OpenAI's protocols are given the model's reasoning, and send it back. */
interface ReasoningFields {
  reasoning_content?: string | null | undefined
  reasoning_details?: Record<string, unknown>[] | null | undefined
}

/** OpenRouter's names for the forms of other providers: https://openrouter.ai/docs, "Reasoning tokens". */
const ITEM_FORMAT = 'openai-responses-v1'
const BLOCK_FORMAT = 'anthropic-claude-v1'

/** What a client sends back with the results of its tools, unchanged. */
export function toReasoningFields(parts: readonly ReasoningPart[] = []) {
  const text = parts.map((part) => (part.form === 'content' ? part.text : '')).join('')
  const details = parts.flatMap((part) => (part.form === 'content' ? [] : [toDetail(part)]))
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

function toDetail(part: Exclude<ReasoningPart, { form: 'content' }>): Record<string, unknown> {
  switch (part.form) {
    case 'detail':
      return part.detail
    case 'item': {
      const { data, id, summary } = part
      return { type: 'reasoning.encrypted', format: ITEM_FORMAT, data, id, summary }
    }
    case 'block':
      return part.text === undefined
        ? { type: 'reasoning.encrypted', format: BLOCK_FORMAT, data: part.signature }
        : {
            type: 'reasoning.text',
            format: BLOCK_FORMAT,
            text: part.text,
            signature: part.signature,
          }
    default:
      return part satisfies never
  }
}

export function fromReasoningFields(fields: ReasoningFields): ReasoningPart[] {
  const { reasoning_content: text, reasoning_details: details } = fields
  return [...(text ? [{ form: 'content' as const, text }] : []), ...(details ?? []).map(fromDetail)]
}

function fromDetail(detail: Record<string, unknown>): ReasoningPart {
  const { format, text, summary, signature } = detail
  const data = nonEmptyString(detail.data)
  const id = nonEmptyString(detail.id)
  if (format === ITEM_FORMAT && data !== undefined && id !== undefined) {
    const summaries = Array.isArray(summary) ? summary.map(String) : []
    return { form: 'item', id, data, summary: summaries }
  }
  if (format === BLOCK_FORMAT && data !== undefined) return { form: 'block', signature: data }
  if (format === BLOCK_FORMAT && typeof text === 'string' && typeof signature === 'string') {
    return { form: 'block', text, signature }
  }
  return { form: 'detail', detail }
}

/** The field of a message with its reasoning, if there is any. */
export const withReasoning = (reasoning: readonly ReasoningPart[]) =>
  reasoning.length > 0 ? { reasoning } : {}

/** All of the reasoning as one opaque text, for protocols that have a place for no more. */
export function toOpaque(parts: readonly ReasoningPart[]): string {
  return Buffer.from(JSON.stringify(toReasoningFields(parts))).toString('base64')
}

/** The reverse; nothing for a text of another server. */
export function fromOpaque(text: string): ReasoningPart[] {
  const fields = parseJson(Buffer.from(text, 'base64').toString())
  if (!isObject(fields)) return []
  const { reasoning_content, reasoning_details } = fields
  return fromReasoningFields({
    reasoning_content: nonEmptyString(reasoning_content),
    reasoning_details: Array.isArray(reasoning_details) ? reasoning_details.filter(isObject) : null,
  })
}
