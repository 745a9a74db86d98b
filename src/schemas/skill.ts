import { z } from 'zod'
import { boundedText, optional, optionalOr } from './fields.ts'

export const State = z
  .enum(['on', 'off', 'unavailable'])
  .describe('`off` by configuration; `unavailable` although wanted, see `reason`.')

export const SkillRecord = z.object({
  name: z.string(),
  description: z.string(),
  state: State,
  reason: z.string().optional(),
  source: z.string().optional().describe('Where it comes from, as configured.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('What departs from the format of skills and was put up with.'),
})

export const SkillList = z.object({ skills: z.array(SkillRecord) }).meta({ id: 'SkillList' })

export const SkillReload = z
  .object({
    source: optional(boundedText(2_000)).describe(
      'A source as `agent.json` names it; all of them where this is absent.',
    ),
    accept: optionalOr(z.boolean(), false).describe(
      'Accept what remote sources give now, though it has changed since it was accepted.',
    ),
  })
  .meta({ id: 'SkillReload', examples: [{ source: 'https://example.org', accept: false }] })

export type SkillList = z.output<typeof SkillList>
export type SkillReload = z.output<typeof SkillReload>
