import type { RecordedRequest } from '../scripted-upstream.ts'
import { textReply, toolCallReply } from '../upstream-replies.ts'

/** What a scripted model is to do, in the words of whoever asks: it calls this tool, and says no more. */
const TOOL_CALL = /CALL (\{.*\}) END/

/** A question for which a scripted model calls a tool, and whose answer shows what that has put out. */
export const askingFor = (name: string, input: object) => ({
  body: {
    messages: [{ role: 'user', content: `CALL ${JSON.stringify({ name, arguments: input })} END` }],
    includeSteps: true,
  },
})

/** Calls the tool that the question names, and says no more than that. */
export function callNamedTool(request: RecordedRequest) {
  const [, named] = TOOL_CALL.exec(lastQuestion(request)) ?? []
  const isToldResult = JSON.stringify(request.body).includes('"role":"tool"')
  const reply = named && !isToldResult ? toolCallReply(JSON.parse(named)) : textReply('Done.')
  return typeof reply === 'function' ? reply(request) : reply
}

function lastQuestion({ body }: RecordedRequest): string {
  const { messages = [] } = body as { messages?: { role: string; content?: unknown }[] }
  return String(messages.findLast(({ role }) => role === 'user')?.content ?? '')
}
