import { z } from 'zod'

/** The most entries of one list of access. */
export const MAX_ACCESS = 50

/** One entry of a list of access. */
export const Principal = z
  .string()
  .max(210)
  .regex(/^(?:public|(?:user|group):[^\s\p{Cc}](?:[^\p{Cc}]{0,198}[^\s\p{Cc}])?)$/u, {
    error: 'must be "public", "user:" with the id of a person, or "group:" with that of a group',
  })
  .meta({ examples: ['group:sales'] })

/** Who may see or use something. */
export const Access = z
  .array(Principal)
  .max(MAX_ACCESS)
  .transform((entries) => [...new Set(entries)].sort())
