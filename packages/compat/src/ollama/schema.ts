import { boundedText, freeObject, optional, unsupported } from '@agent-server/lib/fields.ts'
import { AgentFields, lastUserText, MAX_MESSAGE, MAX_MESSAGES } from '@agent-server/schemas/chat.ts'
import type { ErrorBody } from '@agent-server/schemas/error.ts'
import { AgentExtra, ClientFunction, MAX_IMAGE, MAX_TOOLS, SAMPLING } from '@agent-server/wire'
import { z } from 'zod'
import { DIMENSIONS, EmbeddedText, MAX_TEXTS } from '../embeddings/schema.ts'

// Shapes of Ollama's API: https://github.com/ollama/ollama/blob/main/docs/api.md. Fields that only concern how Ollama
// itself runs a model, such as `keep_alive` and `options.num_ctx`, are ignored.

const MAX_IMAGES = 100

const Model = z
  .string()
  .max(256)
  .describe(
    'The agent, or `<agent>:<collection>`; `<agent>:latest` also means the agent. Any other name also selects the agent.',
  )

const Images = z
  .array(z.string().max(MAX_IMAGE))
  .max(MAX_IMAGES)
  .nullish()
  .describe('JPEG, PNG, GIF or WebP in base64, for models that support images.')

const Text = boundedText(MAX_MESSAGE)

const RequestedCall = z.object({
  id: z.string().max(256).nullish().describe('Identifier of the call.'),
  function: z
    .object({
      name: z.string().min(1).max(256).describe('Name of the function.'),
      arguments: freeObject().describe('Its arguments.'),
    })
    .describe('The function that was called.'),
})

const OllamaMessage = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']).describe('Who speaks.'),
  content: Text.nullish().describe('Text of the message.'),
  images: Images,
  tool_calls: z
    .array(RequestedCall)
    .max(MAX_TOOLS)
    .nullish()
    .describe('Calls of the client’s own tools.'),
  tool_name: z.string().max(256).nullish().describe('In a result: the tool that was called.'),
  tool_call_id: z.string().max(256).nullish().describe('In a result: the `id` of the call.'),
})

const OllamaTool = z.object({
  type: z.literal('function').default('function'),
  function: ClientFunction,
})

const AnswerSchema = freeObject().meta({
  id: 'OllamaAnswerSchema',
  description: 'A JSON Schema.',
  properties: { type: { description: 'Type of the answer, such as `object`.' } },
})

/** What both requests have in common. */
const COMMON = {
  model: Model,
  stream: z.boolean().nullish().describe('Whether to stream lines. Default: true.'),
  format: z
    .union([z.enum(['', 'json']), AnswerSchema], { error: 'must be "json" or a JSON Schema' })
    .nullish()
    .describe('`json`, or a JSON Schema of the answer.'),
  think: z
    .union([z.boolean(), z.enum(['low', 'medium', 'high', 'max'])], {
      error: 'must be true, false, or one of "low", "medium", "high", "max"',
    })
    .nullish()
    .describe('Whether to also send the model’s reasoning, in `thinking`.'),
  options: z
    .object({
      ...SAMPLING,
      num_predict: z
        .int()
        .min(-2)
        .max(10_000_000)
        .nullish()
        .describe(
          'Maximum number of tokens that the model may generate per call; no limit if negative.',
        ),
    })
    .nullish()
    .describe('Options of the model; all others are ignored and named in the header `warnings`.'),
  ...AgentFields,
}

export const OllamaChatRequest = z
  .object({
    messages: z
      .array(OllamaMessage)
      .max(MAX_MESSAGES)
      .refine(asksNothingOrSomething, {
        message: 'must contain a user message with text or images',
      })
      .nullish()
      .describe('The conversation. Without messages nothing is generated.'),
    tools: z.array(OllamaTool).max(MAX_TOOLS).nullish().describe('The client’s own tools.'),
    ...COMMON,
  })
  .meta({
    id: 'OllamaChatRequest',
    examples: [
      { model: 'agent', messages: [{ role: 'user', content: 'When does the library open?' }] },
    ],
  })

export const OllamaGenerateRequest = z
  .object({
    prompt: Text.nullish().describe('The question. Without one nothing is generated.'),
    system: Text.nullish().describe('Instructions to the agent.'),
    images: Images,
    suffix: unsupported('the agent answers questions; it does not complete text'),
    ...COMMON,
  })
  .meta({
    id: 'OllamaGenerateRequest',
    examples: [{ model: 'agent', prompt: 'When does the library open?' }],
  })

const Nanoseconds = z.int().optional()

/** What both answers have in common; the figures and `agent` are in the last line alone. */
const ANSWER = {
  model: z.string().describe('The model of the request.'),
  created_at: z.string().describe('When this line was written.'),
  done: z.boolean().describe('Whether this is the last line.'),
  done_reason: z
    .enum(['stop', 'length', 'load'])
    .optional()
    .describe('Why the answer ended; `agent.finishReason` is more precise.'),
  total_duration: Nanoseconds.describe('Duration of the run in nanoseconds.'),
  load_duration: Nanoseconds.describe('Always 0: the time to load the model is not known.'),
  prompt_eval_count: z.int().optional().describe('Tokens of all prompts of the run.'),
  prompt_eval_duration: Nanoseconds.describe('Time until the answer began, in nanoseconds.'),
  eval_count: z.int().optional().describe('Tokens that were generated in the run.'),
  eval_duration: Nanoseconds.describe(
    'Time from the beginning of the answer to its end, in nanoseconds.',
  ),
  agent: AgentExtra.optional().describe('What led to the answer, in the last line.'),
}

const CallOfClient = z.object({
  id: z.string().describe('Identifier of the call.'),
  function: z
    .object({
      index: z.int().describe('Position among the calls, from 0.'),
      name: z.string().describe('Name of the function.'),
      arguments: z.unknown().describe('Its arguments.'),
    })
    .describe('The function to call.'),
})

export const OllamaChatAnswer = z
  .object({
    message: z
      .object({
        role: z.literal('assistant'),
        content: z.string().describe('Text of the answer, or of this fragment.'),
        thinking: z.string().optional().describe('The model’s reasoning.'),
        tool_calls: z.array(CallOfClient).optional().describe('Calls of the client’s own tools.'),
      })
      .describe('The answer, or the next fragment of it.'),
    ...ANSWER,
  })
  .meta({
    id: 'OllamaChatAnswer',
    description: 'The answer as a whole, or the next line of it; `done` is true in the last line.',
  })

export const OllamaGenerateAnswer = z
  .object({
    response: z.string().describe('Text of the answer, or of this fragment.'),
    thinking: z.string().optional().describe('The model’s reasoning.'),
    ...ANSWER,
  })
  .meta({
    id: 'OllamaGenerateAnswer',
    description: 'The answer as a whole, or the next line of it; `done` is true in the last line.',
  })

const Details = z.object({
  parent_model: z.string().describe('Always empty.'),
  format: z.string().describe('Always empty.'),
  family: z.string().describe('Name of this kind of model.'),
  families: z.array(z.string()).describe('Only `family`.'),
  parameter_size: z.string().describe('Always empty.'),
  quantization_level: z.string().describe('Always empty.'),
})

const OllamaModel = z.object({
  name: z.string().describe('Name to send as `model`.'),
  model: z.string().describe('Same as `name`.'),
  modified_at: z.string().describe('When the server was started.'),
  size: z.int().describe('Always 0.'),
  digest: z.string().describe('Made from the name.'),
  details: Details.describe('Mostly empty: the agent is not a model of Ollama.'),
})

export const OllamaModels = z
  .object({
    models: z
      .array(OllamaModel)
      .describe('The agent, the agent over each collection, and the model alone.'),
  })
  .meta({
    id: 'OllamaModels',
    description: 'The agent, the agent over each collection, and the model alone.',
  })

export const OllamaShowRequest = z
  .object({
    model: optional(z.string().max(256)).describe('Name of the model.'),
    name: optional(z.string().max(256)).describe('Sent by older clients instead of `model`.'),
  })
  .meta({ id: 'OllamaShowRequest', examples: [{ model: 'agent' }] })

export const OllamaModelInfo = z
  .object({
    modelfile: z.string().describe('Always empty.'),
    parameters: z.string().describe('Always empty.'),
    template: z.string().describe('Always empty.'),
    license: z.string().describe('Always empty.'),
    modified_at: z.string().describe('When the server was started.'),
    details: Details.describe('Mostly empty: the agent is not a model of Ollama.'),
    model_info: z
      .record(z.string(), z.unknown())
      .describe('Facts about the model, such as its context window.'),
    capabilities: z
      .array(z.string())
      .describe('What the agent can do, such as `tools` and `vision`.'),
  })
  .meta({ id: 'OllamaModelInfo' })

export const OllamaEmbedRequest = z
  .object({
    model: optional(z.string().max(256)).describe('Ignored; the configured model is used.'),
    input: z
      .union([EmbeddedText, z.array(EmbeddedText).min(1).max(MAX_TEXTS)], {
        error: 'must be a text or a list of up to 2,048 texts',
      })
      .describe('The text or the texts to embed.'),
    dimensions: DIMENSIONS,
  })
  .meta({ id: 'OllamaEmbedRequest', examples: [{ model: 'agent', input: 'Owls hunt at night.' }] })

export const OllamaEmbeddingRequest = z
  .object({
    model: optional(z.string().max(256)).describe('Ignored; the configured model is used.'),
    prompt: EmbeddedText.describe('The text to embed.'),
  })
  .meta({ id: 'OllamaEmbeddingRequest', examples: [{ prompt: 'Owls hunt at night.' }] })

export const OllamaEmbedding = z
  .object({ embedding: z.array(z.number()).describe('A vector of length 1.') })
  .meta({ id: 'OllamaEmbedding' })

export const OllamaEmbeddings = z
  .object({
    model: z.string().describe('Name of the configured embedding model.'),
    embeddings: z.array(z.array(z.number())).describe('Vectors of length 1.'),
    total_duration: z.int().describe('Duration in nanoseconds.'),
    load_duration: z.int().describe('Always 0: the time to load the model is not known.'),
    prompt_eval_count: z.int().describe('Estimated from the length of the texts.'),
  })
  .meta({ id: 'OllamaEmbeddings' })

export const OllamaVersion = z
  .object({
    version: z.string().describe('The version of Ollama’s API that this server implements.'),
  })
  .meta({ id: 'OllamaVersion' })

/** Ollama's clients show `error` as it is, so it is the message alone. */
export const OLLAMA_ERROR = {
  schema: z
    .object({
      error: z.string().describe('What went wrong and how to fix it.'),
      code: z.string().describe('Stable error code, listed in docs/reference/errors.md.'),
      param: z.string().nullable().describe('Dotted path of the invalid field, or null.'),
      request_id: z.string().describe('Identifies the request; also in the log.'),
    })
    .meta({ id: 'OllamaError' }),
  toErrorBody: ({ error: { message, code, param, request_id } }: ErrorBody) => ({
    error: message,
    code,
    param,
    request_id,
  }),
}

function asksNothingOrSomething(messages: readonly OllamaMessage[]): boolean {
  if (messages.length === 0) return true
  const texts = messages.map(({ role, content, images }) => ({
    role,
    content: images?.length ? 'an image' : (content ?? ''),
  }))
  return lastUserText(texts).trim() !== ''
}

export type OllamaMessage = z.output<typeof OllamaMessage>
export type OllamaChatRequest = z.output<typeof OllamaChatRequest>
export type OllamaGenerateRequest = z.output<typeof OllamaGenerateRequest>
export type OllamaChatAnswer = z.output<typeof OllamaChatAnswer>
export type OllamaGenerateAnswer = z.output<typeof OllamaGenerateAnswer>
export type OllamaModels = z.output<typeof OllamaModels>
export type OllamaModelInfo = z.output<typeof OllamaModelInfo>
