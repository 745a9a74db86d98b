import { z } from 'zod'
import { boundedText, optional, optionalOr } from '../fields.ts'

export const DeploymentTargets = z
  .object({ targets: z.array(z.object({ name: z.string(), title: z.string() })) })
  .meta({ id: 'DeploymentTargets' })

export const DeploymentRequest = z
  .object({
    target: boundedText(32).describe('A name that `GET /admin/deploy` lists.'),
    instances: optionalOr(z.int().min(1).max(999), 1).describe('Servers side by side.'),
    domain: optional(
      z
        .string()
        .max(260)
        .regex(/^[\w.-]{1,253}(?::\d+)?$/, 'must be a name like agent.example.org'),
    ).describe('The name that it will be called by.'),
  })
  .meta({ id: 'DeploymentRequest', examples: [{ target: 'compose', domain: 'agent.example.org' }] })

const Problem = z.object({
  field: z.string().describe('A variable, a field of `agent.json` or of the request.'),
  message: z.string(),
  remedy: z.string(),
})

export const Deployment = z
  .object({
    target: z.string(),
    refusals: z.array(Problem).describe('All that stands against it; then there are no files.'),
    warnings: z.array(Problem),
    files: z
      .array(z.object({ name: z.string(), text: z.string() }))
      .describe(
        'To be put into `deployment/<target>` of the project; `DEPLOY.md` says how to go on.',
      ),
    secrets: z
      .array(z.string())
      .describe('Names of the variables to set at the platform; their values are in no file.'),
    commands: z.array(z.object({ title: z.string(), run: z.string() })).describe('In order.'),
  })
  .meta({ id: 'Deployment' })

export type DeploymentTargets = z.output<typeof DeploymentTargets>
export type DeploymentRequest = z.output<typeof DeploymentRequest>
export type Deployment = z.output<typeof Deployment>
