import { randomUUID } from 'node:crypto'
import type { Dialect, DialectSettings } from '@agent-server/wire'
import type { Completion, CompletionChunk } from './answer-schema.ts'
import { filesIn, toAgentRequest } from './request.ts'
import type { CompletionRequest } from './schema.ts'
import { createCompletionWriter } from './writer.ts'

/** OpenAI's chat completions. */
export function createCompletionsDialect(
  settings: DialectSettings,
): Dialect<CompletionRequest, CompletionChunk, Completion> {
  return {
    read(body, caller, origin) {
      const request = toAgentRequest(body, caller, settings)
      const head = { id: `chatcmpl-${randomUUID()}`, created: now(), model: settings.modelName }
      const writer = createCompletionWriter(head, {
        includeUsage: body.stream_options?.include_usage ?? false,
        origin,
      })
      return { request, files: filesIn(body), ...writer }
    },
    // Clients cannot handle named events, so every frame is a plain data line.
    encode: (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
    end: 'data: [DONE]\n\n',
    encodeFailure: (body) => `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`,
  }
}

const now = () => Math.floor(Date.now() / 1_000)
