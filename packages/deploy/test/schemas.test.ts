import { existsSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { NetworkPolicy, readText } from '../../../test/deploy/deployment-files.ts'
import { filesOf, full, minimal } from './deployments.ts'
import { mistakesOf, OPTIONS, readSchema, SCHEMAS } from './schema-files.ts'

// Where Compose itself can be had, test/system/compose.test.ts asks it, too.
const COMPOSE_FILES = ['docker-compose.yml', 'docker-compose.cluster.yml']
const MANIFESTS = ['namespace', 'agent-server', 'qdrant'].map(
  (name) => `deploy/kubernetes/${name}.yaml`,
)
const KINDS: Record<string, string> = {
  'v1 Namespace': 'io.k8s.api.core.v1.Namespace',
  'v1 ConfigMap': 'io.k8s.api.core.v1.ConfigMap',
  'v1 PersistentVolumeClaim': 'io.k8s.api.core.v1.PersistentVolumeClaim',
  'v1 Service': 'io.k8s.api.core.v1.Service',
  'apps/v1 Deployment': 'io.k8s.api.apps.v1.Deployment',
  'apps/v1 StatefulSet': 'io.k8s.api.apps.v1.StatefulSet',
  'policy/v1 PodDisruptionBudget': 'io.k8s.api.policy.v1.PodDisruptionBudget',
}

const readFile = (path: string): unknown => parse(readText(path), { merge: true })
const readResources = (path: string): unknown[] =>
  parseAllDocuments(readText(path)).map((document) => document.toJS())

describe.skipIf(!existsSync(SCHEMAS))('The schema of Compose (needs ../shared/schemas)', () => {
  let compose: ValidateFunction
  beforeAll(() => {
    compose = new Ajv(OPTIONS).compile(readSchema('compose-spec.json'))
  })
  const composeMistakes = (file: unknown) => mistakesOf(compose, file)

  it.each(COMPOSE_FILES)('takes %s', (path) => {
    expect(composeMistakes(readFile(path))).toEqual([])
  })

  it.each([minimal, full])('takes what is generated', (make) => {
    expect(composeMistakes(parse(filesOf(make('compose'))['compose.yaml'] ?? ''))).toEqual([])
  })

  it.each([
    ['an unknown key', { image: 'a', healtcheck: {} }],
    ['a wrong kind', { image: 'a', read_only: 3 }],
    ['an unknown condition', { image: 'a', depends_on: { b: { condition: 'healthy' } } }],
    ['what is no list', { image: 'a', cap_drop: 'ALL' }],
  ])('refuses %s', (_what, service) => {
    expect(composeMistakes({ services: { a: service } })).not.toEqual([])
  })
})

describe.skipIf(!existsSync(SCHEMAS))('The schemas of Kubernetes (needs ../shared/schemas)', () => {
  const kubernetes = new Ajv2020(OPTIONS)
  beforeAll(() => {
    kubernetes.addSchema(readSchema('kubernetes-1.34.json'), 'kubernetes')
  })
  const resourceMistakes = (resource: unknown) => {
    const { apiVersion, kind } = Object(resource)
    if (kind === 'NetworkPolicy') {
      return NetworkPolicy.safeParse(resource).error?.issues.map(({ message }) => message) ?? []
    }
    const isRight = kubernetes.getSchema(`kubernetes#/$defs/${KINDS[`${apiVersion} ${kind}`]}`)
    return isRight ? mistakesOf(isRight, resource) : [`${apiVersion} ${kind} is unknown here`]
  }

  it.each(MANIFESTS)('take every resource of %s', (path) => {
    const resources = readResources(path)
    expect(resources.length).toBeGreaterThan(0)
    expect(resources.flatMap(resourceMistakes)).toEqual([])
  })

  it.each([minimal, full])('take what is generated', (make) => {
    const files = filesOf(make('kubernetes'))
    const { resources } = parse(files['kustomization.yaml'] ?? '')
    for (const name of resources) {
      const found = parseAllDocuments(files[name] ?? '').map((document) => document.toJS())
      expect(found.length).toBeGreaterThan(0)
      expect(found.flatMap(resourceMistakes)).toEqual([])
    }
  })

  const container = { name: 'a', image: 'a' }
  const pod = (more: object) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a' },
    spec: {
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'a' } }, spec: { containers: [container], ...more } },
    },
  })
  it('accept a deployment with required fields only', () => {
    expect(resourceMistakes(pod({}))).toEqual([])
  })
  it.each([
    ['an unknown key', pod({ securitycontext: {} })],
    ['a wrong kind', pod({ terminationGracePeriodSeconds: '30' })],
    ['a port without its number', pod({ containers: [{ ...container, ports: [{ name: 'a' }] }] })],
    ['a network policy that lets nobody out', { kind: 'NetworkPolicy', spec: { egress: {} } }],
    ['an unknown kind', { apiVersion: 'apps/v1beta1', kind: 'Deployment' }],
  ])('refuse %s', (_what, resource) => {
    expect(resourceMistakes(resource)).not.toEqual([])
  })
})
