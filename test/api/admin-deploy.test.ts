import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Deployment, DeploymentTargets } from '@agent-server/schemas/operator/deployment.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { startServer } from '../support/server.ts'
import { ROOT } from '../support/source-tree.ts'
import { writeAgentFile } from '../support/temporary-files.ts'

const SECRET = 'sk-that-stands-in-no-file-1234'

describe('POST /admin/deploy', () => {
  it(
    'makes the files of each target without any secret, or says what stands against it',
    verifies('admin.deploy'),
    async () => {
      const AGENT_CONFIG = fileURLToPath(new URL('agent.json', ROOT))
      const model = { CHAT_MODEL: 'm', CHAT_API_KEY: SECRET }
      // Without what it does in the background, such as asking OpenAI for its models.
      const server = await startServer({ AGENT_CONFIG, ...model }, { begin: false })
      const deploy = async (target: string) => {
        const response = await server.request('/admin/deploy', { body: { target } })
        return Deployment.parse(await response.json())
      }
      const answer = await (await server.request('/admin/deploy')).json()
      const { targets } = DeploymentTargets.parse(answer)
      expect(targets.map(({ name }) => name)).toContain('kubernetes')
      const made = await deploy('compose')
      expect(made).toMatchObject({
        refusals: [],
        secrets: expect.arrayContaining(['CHAT_API_KEY']),
      })
      expect(made.files.map(({ name }) => name)).toContain('DEPLOY.md')
      expect(JSON.stringify(made)).not.toContain(SECRET)

      const refused = await deploy('vercel')
      expect(refused).toMatchObject({ files: [], refusals: [{ field: 'target' }] })
      // On its disk nothing stays.
      expect((await deploy('cloud-run')).refusals.length).toBeGreaterThan(0)
    },
  )

  it('refuses an agent configuration that has mistakes, and names them', async () => {
    const AGENT_CONFIG = await writeAgentFile({})
    const server = await startServer({ AGENT_CONFIG })
    await writeFile(AGENT_CONFIG, '{"prompt": 1}')
    const response = await server.request('/admin/deploy', { body: { target: 'compose' } })
    expect(Deployment.parse(await response.json())).toMatchObject({
      files: [],
      refusals: [{ field: 'AGENT_CONFIG', message: expect.stringContaining('prompt ') }],
    })
  })
})
