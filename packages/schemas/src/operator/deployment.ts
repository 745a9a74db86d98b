import { boundedText, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

/** A host name, with a port or without. No label begins with `-`, which a program would take for an option. */
export const HOST_NAME = /^(?!.*\.-)(?!-)[\w.-]{1,253}(?::\d{1,5})?$/

export const DeploymentTargets = z
  .object({
    targets: z
      .array(
        z.object({
          name: z.string().describe('Name to send as `target`.'),
          title: z.string().describe('Name of the platform.'),
        }),
      )
      .describe('The platforms for which deployments can be generated.'),
  })
  .meta({ id: 'DeploymentTargets' })

export const DeploymentRequest = z
  .object({
    target: boundedText(32).describe('One of the names listed by `GET /admin/deploy`.'),
    instances: optionalOr(z.int().min(1).max(999), 1).describe('Number of server instances.'),
    domain: optional(
      z.string().max(260).regex(HOST_NAME, 'must be a host name such as agent.example.org'),
    ).describe('The public host name.'),
  })
  .meta({ id: 'DeploymentRequest', examples: [{ target: 'compose', domain: 'agent.example.org' }] })

const Problem = z.object({
  field: z.string().describe('A variable, a field of `agent.json`, or a field of the request.'),
  message: z.string().describe('What is wrong.'),
  remedy: z.string().describe('How to fix it.'),
})

export const Deployment = z
  .object({
    target: z.string().describe('The target of the request.'),
    refusals: z
      .array(Problem)
      .describe(
        'Reasons why the configuration cannot run on this target. If there are any, no files are generated.',
      ),
    warnings: z.array(Problem).describe('What works on this target only with limitations.'),
    files: z
      .array(
        z.object({
          name: z.string().describe('Name of the file.'),
          text: z.string().describe('Content of the file.'),
        }),
      )
      .describe(
        'Save these in `deployment/<target>` of the project; `DEPLOY.md` describes the next steps.',
      ),
    secrets: z
      .array(z.string())
      .describe(
        'Names of the variables to set as secrets on the platform. The generated files do not contain their values.',
      ),
    commands: z
      .array(
        z.object({
          title: z.string().describe('What the command is for.'),
          run: z.string().describe('The command.'),
        }),
      )
      .describe('The commands to run, in this order.'),
  })
  .meta({ id: 'Deployment' })

export type DeploymentTargets = z.output<typeof DeploymentTargets>
export type DeploymentRequest = z.output<typeof DeploymentRequest>
export type Deployment = z.output<typeof Deployment>
