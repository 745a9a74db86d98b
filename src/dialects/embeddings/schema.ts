import { z } from 'zod'
import { filledText, optional, optionalOr } from '../../schemas/fields.ts'

const Text = filledText(200_000)

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
      .union([Text, z.array(Text).min(1).max(256)], {
        error: 'must be a text or a list of up to 256 texts; token arrays are not supported',
      })
      .describe('The text or the texts to embed.'),
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
