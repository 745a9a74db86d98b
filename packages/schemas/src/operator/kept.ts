import { z } from 'zod'

export const Kept = z
  .object({
    name: z.string().describe('What is kept, in words.'),
    count: z.int().describe('How many there are.'),
    keptFor: z.string().describe('For how long each is kept, in words.'),
    bound: z.string().describe('How many are kept at most, in words.'),
    most: z.int().optional().describe('How many are kept at most, where one bound is for all.'),
  })
  .meta({ id: 'Kept' })

export const KeptList = z
  .object({
    kept: z
      .array(Kept)
      .describe('What grows in the database; what exceeds a bound goes, the oldest first.'),
  })
  .meta({ id: 'KeptList' })

export type Kept = z.output<typeof Kept>
