import { AppError } from '@agent-server/lib/errors.ts'
import type { Resume } from '@agent-server/schemas/approval.ts'
import { type AnsweredCall, type Elicited, toContentSchema } from '../tools/elicitation.ts'
import { parseCall, type ToolCall } from '../tools/registry.ts'
import type { PausedRun } from './pause.ts'

/**
 * The calls that waited before a pause: finished ones have their results, started ones the client's answers. Throws
 * AppError `invalid_request` if an answer is missing, does not fit, or belongs to no call.
 */
export function readPendingCalls(
  paused: Pick<PausedRun, 'added' | 'results'> | undefined,
  resume: Resume | undefined,
): ToolCall[] {
  const last = paused?.added.at(-1)
  if (!resume || last?.role !== 'assistant') return []
  const waited = (last.toolCalls ?? []).map(parseCall)
  const used = new Set<number>()
  const calls = waited.map((call, index) => {
    const result = paused?.results?.[index]
    if (!result?.elicited) return { ...call, result }
    return { ...call, answered: answersTo(call, result.elicited, resume, used) }
  })
  const unused = resume.answers?.findIndex((_answer, index) => !used.has(index)) ?? -1
  if (unused >= 0) throw refusal(`${unused}`, 'answers nothing that an approved call asks')
  return calls
}

function answersTo(
  call: ToolCall,
  elicited: Elicited,
  { approved, answers = [] }: Resume,
  used: Set<number>,
): AnsweredCall {
  const isAccepted = approved.includes(call.callId)
  const replies: AnsweredCall['answers'] = {}
  for (const { id, requestedSchema } of elicited.elicitations) {
    if (!isAccepted) {
      replies[id] = { action: 'decline' }
      continue
    }
    const index = answers.findIndex((answer) => answer.callId === call.callId && answer.id === id)
    const answer = answers[index]
    if (!answer) throw refusal('', `lacks the answer to "${id}" of the call "${call.callId}"`)
    used.add(index)
    const { data, error } = toContentSchema(requestedSchema).safeParse(answer.content)
    if (!data) {
      const [issue] = error.issues
      const path = [index, 'content', ...(issue?.path ?? [])].map(String).join('.')
      throw refusal(path, issue?.message ?? 'is invalid')
    }
    replies[id] = { action: 'accept', content: data }
  }
  return { ...elicited, answers: replies }
}

function refusal(place: string, message: string): AppError {
  const param = ['resume.answers', place].filter(Boolean).join('.')
  return new AppError('invalid_request', `${param}: ${message}`, { param })
}
