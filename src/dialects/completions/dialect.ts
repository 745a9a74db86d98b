import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@agent-server/schemas/error.ts'
import type { Dialect, DialectSettings } from '@agent-server/wire'
import type { Completion, CompletionChunk } from './answer-schema.ts'
import { filesIn, toAgentRequest } from './request.ts'
import type { CompletionRequest } from './schema.ts'
import { createCompletionWriter } from './writer.ts'

const END = 'data: [DONE]\n\n'

/** Clients cannot handle named events, so every frame is a plain data line. */
export const COMPLETION_FORMAT = {
  encode: (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`,
  end: END,
  encodeFailure: (body: ErrorBody) => `data: ${JSON.stringify(body)}\n\n${END}`,
}

/** OpenAI's chat completions. */
export function createCompletionsDialect(
  settings: DialectSettings,
): Dialect<CompletionRequest, CompletionChunk, Completion> {
  return {
    read(body, caller, origin) {
      const request = toAgentRequest(body, caller, settings)
      const model = request.agent ?? settings.modelName
      const head = { id: `chatcmpl-${randomUUID()}`, created: now(), model }
      const writer = createCompletionWriter(head, {
        includeUsage: body.stream_options?.include_usage ?? false,
        origin,
      })
      return { request, files: filesIn(body), ...writer }
    },
    ...COMPLETION_FORMAT,
  }
}

const now = () => Math.floor(Date.now() / 1_000)
