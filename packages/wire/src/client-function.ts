import { boundedText, freeObject } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

/** Limit of a client's own functions, and of its calls to them in one message. */
export const MAX_TOOLS = 128

/** A function of the client's own, as OpenAI's chat completions and Ollama's API describe it. */
export const ClientFunction = z
  .object({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores or hyphens')
      .describe('Name of the function.'),
    description: boundedText(100_000).nullish().describe('What the function does, for the model.'),
    parameters: freeObject().nullish().describe('JSON Schema of its arguments.'),
  })
  .describe('The function.')
