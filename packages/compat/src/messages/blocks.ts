import { boundedText, freeObject } from '@agent-server/lib/fields.ts'
import { MAX_MESSAGE } from '@agent-server/schemas/chat.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import { MAX_FILE, MAX_IMAGE } from '@agent-server/wire'
import { z } from 'zod'

// What the messages of Anthropic's protocol consist of.

export const MAX_BLOCKS = 1_000

export const Text = boundedText(MAX_MESSAGE)

export const TextBlock = z
  .object({
    type: z.literal('text'),
    text: Text.describe('Text of the block.'),
  })
  .meta({ id: 'AnthropicTextBlock' })

const ImageBlock = z
  .object({
    type: z.literal('image'),
    source: z
      .discriminatedUnion(
        'type',
        [
          z.object({
            type: z.literal('base64'),
            media_type: z
              .enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
              .describe('Media type of the image.'),
            data: z.string().max(MAX_IMAGE).describe('The image in base64.'),
          }),
          z.object({
            type: z.literal('url'),
            url: z.string().max(MAX_IMAGE).describe('HTTPS URL of the image.'),
          }),
        ],
        { error: 'must be base64 or a url' },
      )
      .describe('The image.'),
  })
  .meta({ id: 'AnthropicImageBlock' })

const DocumentBlock = z
  .object({
    type: z.literal('document'),
    title: z.string().max(1_000).nullish().describe('Title of the document.'),
    source: z
      .union(
        [
          z.object({ type: z.literal('text'), data: Text.describe('Text of the document.') }),
          z.object({
            type: z.literal('base64'),
            media_type: z.string().max(200).nullish().describe('Media type of the file.'),
            data: z.string().max(MAX_FILE).describe('The file in base64.'),
          }),
          z.object({
            type: z.literal('file'),
            file_id: DocumentId.describe('A file that was uploaded before.'),
          }),
          z.object({
            type: z.literal('content'),
            content: z
              .union([Text, z.array(z.looseObject(TextBlock.shape)).max(MAX_BLOCKS)], {
                error: 'must be a string or a list of blocks of text',
              })
              .describe('Text of the document.'),
          }),
          z.looseObject({
            type: z
              .string()
              .max(64)
              .regex(/^(?!(?:text|base64|file|content)$)/, { abort: true })
              .describe('Kind of the source.'),
          }),
        ],
        { error: 'must be a source with its type: text, base64, file or content' },
      )
      .describe('The document, which the server reads; any other source is refused.'),
  })
  .meta({ id: 'AnthropicDocumentBlock' })

const SearchResultBlock = z
  .object({
    type: z.literal('search_result'),
    source: z.string().max(10_000).describe('Where it is from.'),
    title: z.string().max(1_000).describe('Title of what was found.'),
    content: z.array(TextBlock).max(MAX_BLOCKS).describe('The passages, which the model reads.'),
  })
  .meta({ id: 'AnthropicSearchResultBlock' })

const ToolUseBlock = z
  .object({
    type: z.literal('tool_use'),
    id: z.string().min(1).max(256).describe('Identifier of the call.'),
    name: z.string().min(1).max(256).describe('Name of the tool.'),
    input: freeObject().describe('Arguments of the call.'),
  })
  .meta({ id: 'AnthropicToolUseBlock' })

const RedactedThinkingBlock = z
  .object({
    type: z.literal('redacted_thinking'),
    data: Text.describe('Reasoning of the model, as it was received.'),
  })
  .meta({ id: 'AnthropicRedactedThinkingBlock' })

/** Everything else: the reasoning in `thinking`, which is not needed again, and what is not supported. */
const OtherBlock = z.looseObject({
  type: z
    .string()
    .max(64)
    .regex(
      /^(?!(?:text|image|document|search_result|redacted_thinking|tool_use|tool_result)$)/,
      // So that the block is told what it lacks that has this type.
      { abort: true },
    )
    .describe('Kind of the block. A block that is not supported is replaced by a note.'),
})

const BLOCK_EXPECTED = 'must be a block with its type, such as text or image'

const INSIDE = [TextBlock, ImageBlock, DocumentBlock, RedactedThinkingBlock, OtherBlock] as const

const ToolResultBlock = z
  .object({
    type: z.literal('tool_result'),
    tool_use_id: z.string().min(1).max(256).describe('The `id` of the call.'),
    content: z
      .union(
        [
          Text,
          z
            .array(z.union([...INSIDE, SearchResultBlock], { error: BLOCK_EXPECTED }))
            .max(MAX_BLOCKS),
        ],
        { error: 'must be a string or a list of blocks, such as text and image' },
      )
      .nullish()
      .describe('The result.'),
    is_error: z.boolean().nullish().describe('Whether the call failed.'),
  })
  .meta({ id: 'AnthropicToolResultBlock' })

const Content = z
  .union(
    [
      Text,
      z
        .array(
          z.union([...INSIDE, ToolUseBlock, ToolResultBlock, SearchResultBlock], {
            error: BLOCK_EXPECTED,
          }),
        )
        .max(MAX_BLOCKS),
    ],
    {
      error: 'must be a string or a list of blocks, such as text, image, tool_use and tool_result',
    },
  )
  .describe(
    'Text or blocks. Images in user messages are passed to models that support them; documents and search results are read; for kinds of blocks that are not supported, a note is inserted instead.',
  )

export const MessageParam = z.object({
  role: z.enum(['user', 'assistant', 'system']).describe('Who speaks.'),
  content: Content,
})

export type Block = Exclude<z.output<typeof Content>, string>[number]
export type MessageParam = z.output<typeof MessageParam>
