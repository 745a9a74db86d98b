import { z } from 'zod'
import { filledText, optional, optionalOr, unsupported } from '../fields.ts'

const Text = filledText(200_000)

export const EmbeddingsRequest = z
  .object({
    model: optional(z.string().max(256)).describe('The model is the one that is configured.'),
    input: z.union([Text, z.array(Text).min(1).max(256)], {
      error: 'must be a text or a list of up to 256 texts; tokens are not taken',
    }),
    encoding_format: optionalOr(z.enum(['float', 'base64']), 'float'),
    dimensions: unsupported('the model has its own'),
  })
  .meta({ id: 'EmbeddingsRequest', examples: [{ input: 'When does the library open?' }] })

export const Embeddings = z
  .object({
    object: z.literal('list'),
    model: z.string(),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe('A vector of length 1; with `base64` its little-endian 32-bit floats.'),
      }),
    ),
    usage: z
      .object({ prompt_tokens: z.int(), total_tokens: z.int() })
      .describe('Not known, and 0.'),
  })
  .meta({ id: 'Embeddings' })

export type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>
export type Embeddings = z.output<typeof Embeddings>
