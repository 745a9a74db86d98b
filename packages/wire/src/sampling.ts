import type { Sampling } from '@agent-server/models'
import { z } from 'zod'

const PASSED = 'Passed to the model.'

/** How the model chooses its words, by the names that OpenAI gave it. */
export const SAMPLING = {
  temperature: z.number().min(0).max(2).nullish().describe(PASSED),
  top_p: z.number().min(0).max(1).nullish().describe(PASSED),
  stop: z
    .union([z.string().max(1_000), z.array(z.string().max(1_000)).max(16)], {
      error: 'must be a string or a list of strings',
    })
    .nullish()
    .describe('Texts at which the model stops.'),
  presence_penalty: z.number().min(-2).max(2).nullish().describe(PASSED),
  frequency_penalty: z.number().min(-2).max(2).nullish().describe(PASSED),
  seed: z.int().nullish().describe(PASSED),
}

type SamplingFields = { [Name in keyof typeof SAMPLING]?: z.output<(typeof SAMPLING)[Name]> }

export function toSampling(fields: SamplingFields): Sampling {
  const { stop } = fields
  return {
    temperature: fields.temperature ?? undefined,
    topP: fields.top_p ?? undefined,
    stop: typeof stop === 'string' ? [stop] : (stop ?? undefined),
    presencePenalty: fields.presence_penalty ?? undefined,
    frequencyPenalty: fields.frequency_penalty ?? undefined,
    seed: fields.seed ?? undefined,
  }
}
