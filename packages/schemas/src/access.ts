import { composed } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

/** The most entries of one list of access. */
export const MAX_ACCESS = 50

/** One entry of a list of access; an id of a person has up to 255 characters. */
const Principal = z
  .string()
  .max(260)
  .overwrite(composed)
  .regex(/^(?:public|(?:user|group):[^\s\p{Cc}](?:[^\p{Cc}]{0,253}[^\s\p{Cc}])?)$/u, {
    error: 'must be "public", "user:" with the id of a person, or "group:" with that of a group',
  })
  .meta({ examples: ['group:sales'] })

/** Who may see or use something; equal lists are written the same way. */
export const Access = z
  .array(Principal)
  .max(MAX_ACCESS)
  .overwrite((entries) => [...new Set(entries)].sort())

export const DocumentAccess = Access.nullish()
  .describe(
    'Who may read the document besides the person who added it: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in. If null or absent, whoever may read its collection. It concerns people only: API keys read all documents of their collections.',
  )
  .meta({ examples: [['group:hr', 'user:ada']] })
