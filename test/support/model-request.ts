import { z } from 'zod'
import { EXAMPLE } from '../../src/agent/run/prompt.ts'
import type { RecordedRequest, ScriptedUpstream } from './scripted-upstream.ts'

const ModelRequest = z.looseObject({
  model: z.string(),
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.string().nullish(),
      tool_calls: z.array(z.unknown()).optional(),
    }),
  ),
  tools: z.array(z.object({ function: z.looseObject({ name: z.string() }) })).default([]),
})

export type ModelRequest = z.output<typeof ModelRequest>

/** What the chat model was sent, without the example, readable; throws where it was sent something else. */
export function modelRequest(request: RecordedRequest | undefined): ModelRequest {
  const { messages, ...sent } = ModelRequest.parse(request?.body)
  const examples = EXAMPLE.map(({ content }) => content)
  return { ...sent, messages: messages.filter(({ content }) => !examples.includes(content ?? '')) }
}

/** The text of the first message of a role that the model was sent. */
export function promptOf(request: RecordedRequest | undefined, role: 'system' | 'user'): string {
  const { messages } = modelRequest(request)
  return messages.find((message) => message.role === role)?.content ?? ''
}

/** What the model was told last of a call of a tool. */
export const lastToolResult = ({ requests }: Pick<ScriptedUpstream, 'requests'>): string =>
  toolResults(requests.at(-1)).at(-1) ?? ''

/** What the model was told of the calls of its tools, in their order. */
export function toolResults(request: RecordedRequest | undefined): string[] {
  const { messages } = modelRequest(request)
  return messages.flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []))
}
