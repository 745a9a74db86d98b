import { readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { ROOT } from '../support/source-tree.ts'

const Variables = z.record(z.string(), z.string().nullable())
const Awaited = z.record(
  z.string(),
  z.object({ condition: z.literal('service_healthy'), required: z.boolean().optional() }),
)

/** What the files of Docker Compose may say of a service: anything else would be a slip. */
const Service = z.strictObject({
  image: z.string(),
  build: z.literal('.').optional(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  environment: Variables.optional(),
  depends_on: Awaited.optional(),
  extra_hosts: z.array(z.literal('host.docker.internal:host-gateway')).optional(),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.literal('CMD')], z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.int(),
      start_period: z.string().optional(),
    })
    .optional(),
  restart: z.literal('unless-stopped'),
  mem_limit: z.string(),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  user: z.literal('1000:1000').optional(),
  cap_drop: z.array(z.string()).optional(),
  cap_add: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
  shm_size: z.string().optional(),
  pids_limit: z.int().optional(),
})
const Compose = z.looseObject({
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.null()),
})

export type Service = z.output<typeof Service>

export function readText(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

export function readCompose(path: string): z.output<typeof Compose> {
  return Compose.parse(parse(readText(path), { merge: true }))
}

const Resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.unknown().optional(),
  data: Variables.optional(),
})
export type Resource = z.output<typeof Resource>

/** The resources of a file of Kubernetes. */
export function readResources(path: string): Resource[] {
  return parseAllDocuments(readText(path)).map((document) => Resource.parse(document.toJS()))
}

const Probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }),
  periodSeconds: z.int(),
  timeoutSeconds: z.int().optional(),
  failureThreshold: z.int().optional(),
})
const Secret = z.strictObject({
  secretKeyRef: z.strictObject({
    name: z.string(),
    key: z.string(),
    optional: z.boolean().optional(),
  }),
})
const Container = z.looseObject({
  image: z.string(),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })),
  env: z.array(
    z.strictObject({
      name: z.string(),
      value: z.string().optional(),
      valueFrom: Secret.optional(),
    }),
  ),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
})
const Labels = z.record(z.string(), z.string())

/** What every workload must say. */
export const Workload = z.looseObject({
  replicas: z.int().min(2),
  selector: z.strictObject({ matchLabels: Labels }),
  template: z.strictObject({
    metadata: z.strictObject({ labels: Labels }),
    spec: z.looseObject({
      securityContext: z.looseObject({ runAsNonRoot: z.literal(true) }),
      containers: z.array(Container).length(1),
    }),
  }),
})
const Pods = z.strictObject({ podSelector: z.strictObject({ matchLabels: Labels }) })
const Block = z.strictObject({
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()) }),
})
const Port = z.strictObject({
  port: z.union([z.string(), z.int()]),
  protocol: z.enum(['TCP', 'UDP']).optional(),
})
const Peers = z.array(z.union([Pods, Block])).min(1)
/** The fields that are used of a NetworkPolicy, from the documentation: it is not among the schemas. */
export const NetworkPolicy = z.strictObject({
  apiVersion: z.literal('networking.k8s.io/v1'),
  kind: z.literal('NetworkPolicy'),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({
    podSelector: Pods.shape.podSelector,
    policyTypes: z.tuple([z.literal('Ingress'), z.literal('Egress')]),
    ingress: z.array(z.strictObject({ from: Peers.optional(), ports: z.array(Port) })),
    egress: z.array(z.strictObject({ to: Peers.optional(), ports: z.array(Port).optional() })),
  }),
})
export const Selecting = z.looseObject({
  selector: z.union([z.strictObject({ matchLabels: Labels }), Labels]),
})
