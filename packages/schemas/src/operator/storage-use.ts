import { z } from 'zod'

export const StorageUse = z
  .object({
    name: z.string().describe('The kind of data, in words.'),
    count: z.int().describe('Number of entries.'),
    bytes: z
      .int()
      .optional()
      .describe(
        'Size of the entries in the database, in bytes, with what belongs to them. Absent if the database is too large to be measured.',
      ),
    retention: z.string().describe('How long an entry is kept, in words.'),
    bound: z.string().describe('The limit, in words.'),
    most: z
      .int()
      .optional()
      .describe('Maximum number of entries. Absent if the limit is not a single number.'),
    whenFull: z
      .enum(['oldest-removed', 'refused'])
      .optional()
      .describe(
        'What happens at the limit: the oldest entry is removed, or a new one is refused. Absent if neither happens.',
      ),
  })
  .meta({ id: 'StorageUse' })

export const StorageUseList = z
  .object({
    storage: z
      .array(StorageUse)
      .describe('Each kind of data that grows in the database, with its size and limit.'),
  })
  .meta({ id: 'StorageUseList' })

export type StorageUse = z.output<typeof StorageUse>
