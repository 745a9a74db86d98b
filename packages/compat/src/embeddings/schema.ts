import { boundedText, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

/** White space has a vector, too: a list may hold what a program cut out of a text. */
export const EmbeddedText = boundedText(200_000).min(1, 'must not be empty')
/** As many as OpenAI takes. */
export const MAX_TEXTS = 2_048
const Tokens = z.array(z.int().min(0).max(200_000)).min(1).max(8_192)

export const DIMENSIONS = z
  .int()
  .min(1)
  .max(65_536)
  .nullish()
  .describe('If given, must be the number of dimensions of the configured model.')

export const EmbeddingsRequest = z
  .object({
    model: optional(z.string().max(256)).describe('Ignored; the configured model is used.'),
    input: z
      .union(
        [
          EmbeddedText,
          z
            .array(z.union([EmbeddedText, Tokens], { error: 'must be a text or a list of tokens' }))
            .min(1)
            .max(MAX_TEXTS),
          Tokens,
        ],
        {
          error: 'must be a text or a list of up to 2,048 texts; a text may be up to 8,192 tokens',
        },
      )
      .describe(
        'The text or the texts to embed, of up to 2,000,000 characters together; each may also be an array of tokens of `cl100k_base`.',
      ),
    encoding_format: optionalOr(z.enum(['float', 'base64']), 'float').describe(
      'How each vector is encoded.',
    ),
    dimensions: DIMENSIONS,
  })
  .meta({ id: 'EmbeddingsRequest', examples: [{ input: 'When does the library open?' }] })

export const Embeddings = z
  .object({
    object: z.literal('list'),
    model: z.string().describe('Name of the configured embedding model.'),
    data: z
      .array(
        z.object({
          object: z.literal('embedding'),
          index: z.int().describe('Position of the text in the request, from 0.'),
          embedding: z
            .union([z.array(z.number()), z.string()])
            .describe(
              'A vector of length 1; with `base64`, encoded as little-endian 32-bit floats.',
            ),
        }),
      )
      .describe('One embedding per text, in the order of the request.'),
    usage: z
      .object({
        prompt_tokens: z.int().describe('Tokens of all texts.'),
        total_tokens: z.int().describe('Same as `prompt_tokens`.'),
      })
      .describe('Estimated from the length of the texts.'),
  })
  .meta({ id: 'Embeddings' })

export type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>
export type Embeddings = z.output<typeof Embeddings>
