import { composed } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

/** As long as `user:` and the longest id of a person. */
const MAX_ENTRY = 260
const MAX_ENTRIES = 50

const Entry = z
  .string()
  .max(MAX_ENTRY)
  .overwrite(composed)
  .regex(/^(?:public|(?:user|group):(?!\s*$)[^\p{Cc}]+)$/u, {
    error: 'must be user:<id>, group:<id> or public',
  })

/** Equal lists are written the same way. */
const inOrder = (entries: string[]) => [...new Set(entries)].sort()

/** Whom a right is given to. */
export const AccessEntries = z.array(Entry).max(MAX_ENTRIES).overwrite(inOrder)

export const Access = AccessEntries.nullish()
  .describe(
    'Who may read the document besides the person who added it: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. If null or absent, whoever may read its collection. It concerns people only: API keys read all documents of their collections.',
  )
  .meta({ examples: [['group:hr', 'user:ada']] })
