import { z } from 'zod'

export const Kept = z
  .object({
    name: z.string().describe('What is kept, in words.'),
    count: z.int().describe('How many there are.'),
    bytes: z
      .int()
      .optional()
      .describe(
        'How many bytes they take in the database, with what belongs to them; absent in one too large to be measured.',
      ),
    keptFor: z.string().describe('For how long each is kept, in words.'),
    bound: z.string().describe('How many are kept at most, in words.'),
    most: z.int().optional().describe('How many are kept at most, where one bound is for all.'),
    whenFull: z
      .enum(['oldest-goes', 'refused'])
      .optional()
      .describe('Whether the oldest goes or a new one is refused; absent where neither happens.'),
  })
  .meta({ id: 'Kept' })

export const KeptList = z
  .object({
    kept: z.array(Kept).describe('What grows in the database, how far, and what happens then.'),
  })
  .meta({ id: 'KeptList' })

export type Kept = z.output<typeof Kept>
