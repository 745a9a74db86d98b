import { describe, expect, it } from 'vitest'
import { VARIABLE_NAMES } from '../../src/config.ts'
import {
  NetworkPolicy,
  readCompose,
  readResources,
  readText,
  Selecting,
  Workload,
} from './deployment-files.ts'

const SINGLE = readCompose('docker-compose.yml')
const CLUSTER = readCompose('docker-compose.cluster.yml')
const NGINX = readText('deploy/nginx/nginx.conf')
const KUBERNETES = ['agent-server', 'qdrant'].map((name) => `deploy/kubernetes/${name}.yaml`)

describe.each([
  ['docker-compose.yml', SINGLE],
  ['docker-compose.cluster.yml', CLUSTER],
])('%s', (_file, { services, volumes }) => {
  it('lets a service wait only for others that tell whether they are healthy', () => {
    for (const { depends_on } of Object.values(services)) {
      for (const name of Object.keys(depends_on ?? {})) {
        expect(services[name]?.healthcheck, name).toBeDefined()
      }
    }
  })

  it('names every volume that it mounts, and no other', () => {
    const mounted = Object.values(services).flatMap(({ volumes: mounts = [] }) =>
      mounts.filter((mount) => !mount.startsWith('.')).map((mount) => mount.split(':')[0]),
    )
    expect(mounted.toSorted()).toEqual(Object.keys(volumes).toSorted())
  })

  it('gives the servers variables that they know', () => {
    const servers = Object.entries(services).filter(([name]) => name.startsWith('agent-server'))
    expect(servers.length).toBeGreaterThan(0)
    for (const [, { environment }] of servers) expectKnown(Object.keys(environment ?? {}))
  })

  it('drops all capabilities that a service does not need', () => {
    const kept: Record<string, string[]> = {
      postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
      proxy: ['CHOWN', 'SETGID', 'SETUID'],
    }
    for (const [name, service] of Object.entries(services)) {
      expect(service.cap_drop, name).toEqual(['ALL'])
      expect(service.cap_add, name).toEqual(kept[name])
      expect(service.security_opt, name).toEqual(['no-new-privileges:true'])
      expect(service.read_only === true || name === 'postgres', name).toBe(true)
    }
  })

  it('publishes ports only on the loopback', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? [])
    expect(ports).toHaveLength(1)
    expect(ports[0]).toMatch(/^127\.0\.0\.1:/)
  })
})

describe('docker-compose.yml', () => {
  it('is the server alone, unless the engines are asked for', () => {
    const always = Object.entries(SINGLE.services).filter(([, { profiles }]) => !profiles)
    expect(always.map(([name]) => name)).toEqual(['agent-server'])
    const engines = readText('deploy/engines.env')
    expect(engines).toContain('COMPOSE_PROFILES=engines')
    for (const [, host = ''] of engines.matchAll(/^\w+_URL=\w+:\/\/(?:\S*@)?(\w+):/gm)) {
      expect(SINGLE.services[host]?.profiles).toEqual(['engines'])
    }
    expectKnown(Array.from(engines.matchAll(/^(\w+_URL)=/gm), ([, name = '']) => name))
  })
})

describe('docker-compose.cluster.yml', () => {
  it('has three nodes of Qdrant and two servers, behind a proxy that knows them all', () => {
    const names = Object.keys(CLUSTER.services)
    const upstreams = Array.from(NGINX.matchAll(/^ +server ([\w-]+):(\d+) /gm), ([, name]) => name)
    expect(upstreams.toSorted()).toEqual(
      names.filter((name) => /^(agent-server|qdrant)-\d$/.test(name)).toSorted(),
    )
    expect(upstreams).toHaveLength(5)
  })

  it('keeps nothing of the servers on a disk', () => {
    for (const name of ['agent-server-1', 'agent-server-2']) {
      expect(CLUSTER.services[name]).toMatchObject({ read_only: true })
      expect(CLUSTER.services[name]?.volumes).toBeUndefined()
    }
  })
})

describe('The proxy', () => {
  it('passes streams on without buffering', () => {
    const [, agent = ''] = /listen 3000;(.*?)\n {2}}/s.exec(NGINX) ?? []
    expect(agent).toContain('proxy_buffering off;')
    expect(agent).toContain('proxy_request_buffering off;')
    expect(agent).toContain('gzip off;')
    expect(agent).not.toContain('non_idempotent')
  })
})

describe.each(KUBERNETES)('%s', (path) => {
  const resources = readResources(path)
  const found = resources.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
  const { selector, template } = Workload.parse(found?.spec)
  const [container] = template.spec.containers

  it('selects its pods with its services and its disruption budget', () => {
    expect(selector.matchLabels).toEqual(template.metadata.labels)
    const others = resources.filter(({ kind }) => ['Service', 'PodDisruptionBudget'].includes(kind))
    expect(new Set(others.map(({ kind }) => kind)).size).toBe(2)
    for (const { spec } of others) {
      const { selector: selected } = Selecting.parse(spec)
      const labels = 'matchLabels' in selected ? selected.matchLabels : selected
      expect(labels).toEqual(template.metadata.labels)
    }
  })

  it('has a read-only root, and a network policy of its own', () => {
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const { spec } = NetworkPolicy.parse(resources.find(({ kind }) => kind === 'NetworkPolicy'))
    expect(spec.podSelector.matchLabels).toEqual(template.metadata.labels)
    const ports = container?.ports.map(({ name }) => name)
    for (const { port } of spec.ingress.flatMap((rule) => rule.ports)) {
      expect(ports).toContain(port)
    }
  })

  it('probes the pods on a port that they listen on', () => {
    const ports = container?.ports.map(({ name }) => name)
    for (const name of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      expect(ports).toContain(container?.[name].httpGet.port)
    }
  })

  it('holds no secret, but refers to them all', () => {
    const secrets = container?.env.filter(({ name }) => /KEY$|DATABASE_URL$/.test(name)) ?? []
    expect(secrets.length).toBeGreaterThan(0)
    expect(secrets.filter(({ valueFrom }) => !valueFrom)).toEqual([])
  })
})

describe('Qdrant on Kubernetes', () => {
  it('accepts only the servers, and connects only to its own nodes', () => {
    const policy = readResources(KUBERNETES[1] ?? '').find(({ kind }) => kind === 'NetworkPolicy')
    const { ingress, egress } = NetworkPolicy.parse(policy).spec
    const askers = ingress.map(({ from, ports }) => [ports[0]?.port, JSON.stringify(from)])
    expect(askers).toEqual([
      ['http', expect.stringContaining('agent-server')],
      ['cluster', expect.stringContaining('qdrant')],
    ])
    expect(egress.map(({ ports }) => ports?.map(({ port }) => port))).toEqual([[53, 53], [6335]])
  })
})

describe('The servers on Kubernetes', () => {
  it('cannot reach the metadata service of a cloud', () => {
    const resources = readResources('deploy/kubernetes/agent-server.yaml')
    const policy = resources.find(({ kind }) => kind === 'NetworkPolicy')
    const text = JSON.stringify(NetworkPolicy.parse(policy).spec.egress)
    for (const address of ['169.254.0.0/16', '168.63.129.16/32', 'fd00:ec2::254/128']) {
      expect(text).toContain(address)
    }
  })

  it('get their settings, with no secret in plain text', () => {
    const resources = readResources('deploy/kubernetes/agent-server.yaml')
    const settings = Object.keys(resources.find(({ data }) => data)?.data ?? {})
    expectKnown(settings)
    expect(settings.filter((name) => /KEY|PASSWORD|DATABASE/.test(name))).toEqual([])
  })

  it('are killed when they hang, and left out when a part that they need is away', () => {
    const [, deployment] = readResources('deploy/kubernetes/agent-server.yaml')
    const [container] = Workload.parse(deployment?.spec).template.spec.containers
    expect(container?.livenessProbe.httpGet.path).toBe('/health')
    expect(container?.readinessProbe.httpGet.path).toBe('/readiness')
  })
})

function expectKnown(names: readonly string[]): void {
  // The password of the database, which the driver itself reads.
  const known = [...VARIABLE_NAMES, 'PGPASSWORD']
  expect(names.filter((name) => !known.includes(name))).toEqual([])
}
