import { ChatFrame } from '@agent-server/schemas/chat.ts'
import { ErrorBody, type ErrorDetail } from '@agent-server/schemas/error.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { z } from 'zod'
import { Completion, CompletionChunk } from '../../src/dialects/completions/answer-schema.ts'
import { readAllBlocks } from './event-stream-reader.ts'
import type { TestServer } from './server.ts'

type FrameOf<Type> = Extract<ChatFrame, { type: Type }>

/** A chat stream, read to its end. */
export interface ReadChat {
  /** Event names and frames, in their order. */
  frames: { event: string; frame: ChatFrame }[]
  /** The fragments, concatenated. */
  answer: string
  done: FrameOf<'done'> | undefined
  error: ErrorDetail | undefined
}

export async function readChat(response: Response): Promise<ReadChat> {
  const blocks = await readAllBlocks(response)
  const frames = blocks.map(({ event, data }) => ({
    event,
    frame: ChatFrame.parse(JSON.parse(data)),
  }))
  const all = frames.map(({ frame }) => frame)
  return {
    frames,
    answer: all.map((frame) => (frame.type === 'text-delta' ? frame.text : '')).join(''),
    done: all.find((frame) => frame.type === 'done'),
    error: all.find((frame) => frame.type === 'error')?.error,
  }
}

/** A stream of the chat-completions interface, read to its end. */
export interface ReadCompletion {
  chunks: CompletionChunk[]
  answer: string
  finishReason: string | undefined
  hits: Hit[] | undefined
  error: ErrorDetail | undefined
  /** Whether `[DONE]` came, and came last. */
  ended: boolean
}

export async function readCompletion(response: Response): Promise<ReadCompletion> {
  const lines = (await readAllBlocks(response)).map(({ data }) => data)
  const bodies: unknown[] = lines
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line))
  const failures = bodies.flatMap((body) => ErrorBody.safeParse(body).data ?? [])
  const chunks = z.array(CompletionChunk).parse(bodies.slice(0, bodies.length - failures.length))
  const choices = chunks.flatMap((chunk) => chunk.choices)
  return {
    chunks,
    answer: choices.map(({ delta }) => delta.content ?? '').join(''),
    finishReason: choices.findLast((choice) => choice.finish_reason)?.finish_reason ?? undefined,
    hits: chunks.findLast(({ agent }) => agent)?.agent?.hits,
    error: failures[0]?.error,
    ended: lines.indexOf('[DONE]') === lines.length - 1,
  }
}

/** Asks `/chat` one question. */
export async function ask(
  server: TestServer,
  question: string,
  more: Record<string, unknown> = {},
): Promise<ReadChat> {
  const body = { messages: [{ role: 'user', content: question }], ...more }
  return readChat(await server.request('/chat', { body }))
}

/** Asks `/v1/chat/completions` one question, not streamed. */
export async function complete(
  server: TestServer,
  question: string,
  more: Record<string, unknown> = {},
): Promise<Completion> {
  const body = { messages: [{ role: 'user', content: question }], stream: false, ...more }
  const response = await server.request('/v1/chat/completions', { body })
  return Completion.parse(await response.json())
}
