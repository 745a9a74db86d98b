import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { hasProgram } from '../../../test/support/shell.ts'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { filesOf, full, minimal } from './deployments.ts'

const Resource = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
})

/** What `kubectl apply --kustomize` would send. */
async function build(folder: string) {
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder])
  const resources = parseAllDocuments(stdout).map((document) => Resource.parse(document.toJS()))
  const places = resources.map(({ kind, metadata }) => `${metadata.namespace ?? ''}/${kind}`)
  return { text: stdout, places: new Set(places) }
}

it.skipIf(!hasProgram('kubectl')).each([
  ['of the minimal agent', minimal, ['PersistentVolumeClaim']],
  ['of the full agent', full, ['StatefulSet', 'PodDisruptionBudget']],
])('What is written for Kubernetes %s is built (needs kubectl)', async (_which, make, kinds) => {
  const folder = await temporaryDirectory()
  const files = filesOf(make('kubernetes'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const { text, places } = await build(folder)
  expect(text).toContain('image: registry.example.org/agent-server:1.2.3')
  const common = ['ConfigMap', 'Deployment', 'NetworkPolicy', 'Service']
  const own = [...common, ...kinds].map((kind) => `agent-server/${kind}`)
  expect([...places]).toEqual(expect.arrayContaining(['/Namespace', ...own]))
  expect([...places].filter((place) => place.startsWith('/'))).toEqual(['/Namespace'])
})

it.skipIf(!hasProgram('kubectl'))('deploy/kubernetes is built (needs kubectl)', async () => {
  const { places } = await build('deploy/kubernetes')
  expect(places).toContain('agent-server/StatefulSet')
})
