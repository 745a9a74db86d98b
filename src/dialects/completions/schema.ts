import { boundedText, freeObject } from '@agent-server/lib/fields.ts'
import { AgentFields, lastUserText, MAX_MESSAGE, MAX_MESSAGES } from '@agent-server/schemas/chat.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import {
  ClientFunction,
  fileMark,
  IMAGE_MARK,
  MAX_FILE,
  MAX_IMAGE,
  MAX_TOOLS,
  ModelName,
  SAMPLING,
} from '@agent-server/wire'
import { z } from 'zod'

// Requests of the chat-completions protocol: https://github.com/openai/openai-openapi.
// Unknown fields are ignored, as its clients expect: each sends extras of its own.

const TextPart = z.object({
  type: z.literal('text'),
  text: boundedText(MAX_MESSAGE).describe('Text of the part.'),
})

export const ImageSettings = z.object({
  url: z.string().max(MAX_IMAGE).describe('HTTPS URL, or the image as a data URL.'),
  detail: z.string().max(32).nullish().describe('How closely the model should look; passed on.'),
})

const ImagePart = z.object({
  type: z.literal('image_url'),
  image_url: ImageSettings.describe('The image.'),
})

const FilePart = z.object({
  type: z.literal('file'),
  file: z
    .looseObject({
      filename: z.string().max(1_000).nullish().describe('Name of the file.'),
      file_data: z
        .string()
        .max(MAX_FILE)
        .nullish()
        .describe('The file as a data URL or in base64.'),
      file_id: DocumentId.nullish().describe('Instead of that, a file that was uploaded before.'),
    })
    .describe('The file, which the server reads.'),
})

const RefusalPart = z.object({
  type: z.literal('refusal'),
  refusal: boundedText(MAX_MESSAGE).describe('Text with which the model declined.'),
})

const OtherPart = z.looseObject({
  type: z
    .string()
    .max(64)
    .regex(/^(?!text$|image_url$|file$|refusal$)/, 'must include its text, image_url or file')
    .describe('Kind of the part. A part that is not supported is replaced by a note.'),
})

const Content = z
  .union(
    [
      boundedText(MAX_MESSAGE),
      z
        .array(
          z.union([TextPart, ImagePart, FilePart, OtherPart, RefusalPart], {
            error: 'must be a part with its type, such as text or image_url',
          }),
        )
        .max(1_000),
    ],
    {
      error: 'must be a string or a list of parts, such as text and image_url',
    },
  )
  .describe(
    'Text or parts. Images in user messages are passed to models that support them, and files are read; otherwise, and for all other kinds of parts, a note is inserted instead. Audio is refused.',
  )

export const ExtraContent = freeObject().describe(
  'Data that the model’s provider attached to the call and expects back with its result.',
)

/** Some providers require these back with the results of a message's calls. */
export const Reasoning = {
  reasoning_content: boundedText(MAX_MESSAGE)
    .nullish()
    .describe('Reasoning that came with the calls, to be sent back unchanged.'),
  reasoning_details: z
    .array(freeObject())
    .max(MAX_TOOLS)
    .nullish()
    .describe('Reasoning that came with the calls, to be sent back unchanged.'),
}

const CallId = z.string().max(256).describe('Identifier of the call.')

const FunctionCall = z.object({
  id: CallId,
  type: z.literal('function').default('function'),
  function: z
    .object({
      name: z.string().min(1).max(256).describe('Name of the function.'),
      arguments: boundedText(MAX_MESSAGE).describe('Its arguments, in JSON.'),
    })
    .describe('The function that was called.'),
  extra_content: ExtraContent.nullish(),
})

/** A call of a tool that takes text. */
const CustomCall = z.object({
  id: CallId,
  type: z.literal('custom'),
  custom: z
    .object({
      name: z.string().min(1).max(256).describe('Name of the tool.'),
      input: boundedText(MAX_MESSAGE).describe('What the tool was sent.'),
    })
    .describe('The tool that was called.'),
})

export const CompletionMessage = z
  .discriminatedUnion('role', [
    z.object({
      role: z
        .literal(['system', 'developer'])
        .describe('Both mean the same: instructions to the agent.'),
      content: Content,
    }),
    z.object({ role: z.literal('user'), content: Content }),
    z.object({
      role: z.literal('assistant'),
      content: Content.nullish(),
      refusal: boundedText(MAX_MESSAGE)
        .nullish()
        .describe('Text with which the model declined, in place of `content`.'),
      tool_calls: z
        .array(
          z.union([FunctionCall, CustomCall], {
            error: 'must be a call of the type function or custom',
          }),
        )
        .max(MAX_TOOLS)
        .nullish()
        .describe('Calls of the client’s own tools.'),
      ...Reasoning,
    }),
    z.object({
      role: z.literal('tool'),
      content: Content,
      tool_call_id: z
        .string()
        .max(256)
        .describe('The `id` of the call that this is the result of.'),
    }),
  ])
  .meta({ id: 'CompletionMessage' })

const ClientTool = z.object({
  type: z.literal('function'),
  function: ClientFunction,
})

/** Tools of other kinds, such as `custom`. */
const ForeignTool = z.looseObject({
  type: z
    .string()
    .min(1)
    .max(64)
    .regex(/^(?!function$)/, 'must have its function')
    .describe('Any other type: the tool is left out, and named in the header `warnings`.'),
})

const ToolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.object({
      type: z.literal('function'),
      function: z
        .object({ name: z.string().min(1).max(256).describe('Name of the function.') })
        .describe('The function to call.'),
    }),
  ],
  { error: 'must be auto, none, required, or a function' },
)

export const CompletionRequest = z
  .object({
    model: ModelName,
    messages: z
      .array(CompletionMessage)
      .min(1)
      .max(MAX_MESSAGES)
      .refine(hasQuestion, { message: 'must contain a user message with text or an image' })
      .describe('The conversation. The last user message is answered.'),
    stream: z
      .boolean()
      .nullish()
      .describe(
        'Whether to stream chunks. Default: true, or false if the `Accept` header prefers JSON; always false below `/openai/v1`.',
      ),
    stream_options: z
      .object({
        include_usage: z.boolean().nullish().describe('Whether the last chunk has the usage.'),
      })
      .nullish()
      .describe('Options of the stream.'),
    ...SAMPLING,
    n: z
      .literal(1, { error: 'only one choice per request is supported' })
      .nullish()
      .describe('Number of answers; only 1 is supported.'),
    max_tokens: z
      .int()
      .min(1)
      .max(10_000_000)
      .nullish()
      .describe('Older name of `max_completion_tokens`.'),
    max_completion_tokens: z
      .int()
      .min(1)
      .max(10_000_000)
      .nullish()
      .describe('Maximum number of tokens that the model may generate per call.'),
    response_format: freeObject()
      .nullish()
      .describe('The format of the answer, such as a JSON Schema; passed to the model.'),
    reasoning_effort: z.string().max(32).nullish().describe('Passed to the model.'),
    tools: z
      .array(z.union([ClientTool, ForeignTool], { error: 'must be a tool with its type' }))
      .max(MAX_TOOLS)
      .nullish()
      .describe('The client’s own tools. Calls to them are returned as `tool_calls`.'),
    tool_choice: ToolChoice.nullish().describe(
      'Which of the client’s tools the model may or must call.',
    ),
    ...AgentFields,
  })
  .meta({
    id: 'CompletionRequest',
    examples: [
      { model: 'agent', messages: [{ role: 'user', content: 'When does the library open?' }] },
    ],
  })

/** Whether the latest user message has any text to answer. */
function hasQuestion(messages: readonly CompletionMessage[]): boolean {
  return lastUserText(messages.map(toPlain)).trim() !== ''
}

/** A message's role and text, whatever form its content has. */
export function toPlain(message: CompletionMessage): { role: string; content: string } {
  const { role, content } = message
  const text =
    typeof content === 'string'
      ? content
      : (content ?? []).map((part) => textOf(role, part)).join('')
  return { role, content: text || ('refusal' in message && message.refusal) || '' }
}

export type Part = Exclude<z.output<typeof Content>, string>[number]

function textOf(role: string, part: Part): string {
  if (isText(part)) return part.text
  if (isRefusal(part)) return part.refusal
  if (isFile(part)) return fileMark(part.file.filename ?? part.file.file_id)
  return isImage(part) && role === 'user' ? IMAGE_MARK : `[${part.type}: not supported here]`
}

/** The images of a message, in order. */
export function imagesOf({ content }: CompletionMessage): Image[] {
  if (!Array.isArray(content)) return []
  return content.filter(isImage).map(({ image_url: { url, detail } }) => ({
    url,
    ...(detail && { detail }),
  }))
}

interface Image {
  url: string
  detail?: string
}

const isText = (part: Part): part is z.output<typeof TextPart> => part.type === 'text'
const isRefusal = (part: Part): part is z.output<typeof RefusalPart> => part.type === 'refusal'
/** A part that lacks its file was refused, but is asked here all the same. */
export const isFile = (part: Part): part is z.output<typeof FilePart> =>
  FilePart.safeParse(part).success
const isImage = (part: Part): part is z.output<typeof ImagePart> => part.type === 'image_url'

export type CompletionMessage = z.output<typeof CompletionMessage>
export type CompletionRequest = z.output<typeof CompletionRequest>
