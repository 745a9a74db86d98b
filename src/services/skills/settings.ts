import { z } from 'zod'
import { boundedText } from '../../schemas/text.ts'

const MAXIMUM_SOURCES = 50
const MAXIMUM_NAMES = 500

/** Beside agent.json; may be absent. */
export const DEFAULT_SOURCE = 'skills'

const Names = z.array(boundedText(64)).max(MAXIMUM_NAMES)

export const SkillSettings = z.strictObject({
  sources: z
    .array(boundedText(2_000).min(1))
    .max(MAXIMUM_SOURCES)
    .default([DEFAULT_SOURCE])
    .describe(
      'Folders, archives (.skill, .zip, .tar.gz), URLs of a SKILL.md, of an archive or of a site with an index, and github:owner/repository/path.',
    ),
  enabled: Names.optional().describe('The only skills to use; all where this is absent.'),
  disabled: Names.default([]).describe('Skills not to use.'),
})

export type SkillSettings = z.output<typeof SkillSettings>
