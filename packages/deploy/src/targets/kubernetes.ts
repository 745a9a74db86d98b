import { type Document, parse, parseAllDocuments } from 'yaml'
import {
  buildAndPush,
  dashed,
  IMAGE,
  type Plan,
  setInFile,
  type Target,
  toYaml,
  YAML_OPTIONS,
} from '../target.ts'

/** Kustomize, based on the files of deploy/kubernetes. */
export const kubernetes: Target = {
  name: 'kubernetes',
  title: 'Kubernetes',
  facts: {
    storage: 'disk',
    killSeconds: 600,
    sandboxes: ['embedded', 'e2b'],
    hasServiceNames: true,
    engines: 'indexes',
    instances: 100,
  },
  setSecret: (name, plan) => setInFile(name, plan, dashed(name)),
  render(plan) {
    const { folder, agent, engines, host } = plan
    const { version, files } = agent.project
    const image = `registry.example.org/${IMAGE}:${version}`
    const resources = [
      'namespace.yaml',
      'agent-server.yaml',
      ...engines.map(({ name }) => `${name}.yaml`),
    ]
    const kustomization = {
      ...parse(files[`${PATH}/kustomization.yaml`] ?? ''),
      resources,
      images: [{ name: IMAGE, newName: image.split(':')[0], newTag: version }],
    }
    const apply = `kubectl apply --kustomize ${folder}`
    const namespace = `--namespace ${IMAGE}`
    return {
      files: {
        'kustomization.yaml': toYaml(kustomization),
        'namespace.yaml': files[`${PATH}/namespace.yaml`] ?? '',
        'agent-server.yaml': server(plan),
        ...Object.fromEntries(
          engines.map(({ name }) => [`${name}.yaml`, files[`${PATH}/${name}.yaml`] ?? '']),
        ),
      },
      deploy: [
        {
          title:
            'Replace registry.example.org with your own registry, here and in kustomization.yaml, and build the image',
          run: buildAndPush(plan, image),
        },
        {
          title: 'Create the secrets',
          run: `kubectl apply --filename ${folder}/namespace.yaml\nkubectl ${namespace} create secret generic ${IMAGE} --from-env-file ${folder}/.env --dry-run=client --output yaml | kubectl apply --filename -`,
        },
        {
          title: 'Start all services',
          run: `${apply} && kubectl ${namespace} rollout status deployment/${IMAGE}`,
        },
        ...(host
          ? [
              {
                title: `Create the ingress of ${host}, with your ingress class and the issuer of certificates in cert-manager, and point the DNS records of ${host} to its address. It must not limit request bodies, buffer responses or end connections that are silent for 15 s`,
                run: `kubectl ${namespace} create ingress ${IMAGE} --class=CLASS --rule="${host}/*=${IMAGE}:80,tls=${IMAGE}-tls" --annotation=cert-manager.io/cluster-issuer=ISSUER\nkubectl ${namespace} get ingress,certificate`,
              },
            ]
          : [
              {
                title:
                  'Open the server from this machine. For public access, point your own ingress to port 80 of the service agent-server; it must not buffer responses or end connections that are silent for 15 s',
                run: `kubectl ${namespace} port-forward service/${IMAGE} 3000:80`,
              },
            ]),
      ],
      update: `${buildAndPush(plan, image)}\n${apply} && kubectl ${namespace} rollout restart deployment/${IMAGE}`,
      rollback: `kubectl ${namespace} rollout undo deployment/${IMAGE}`,
      backup: `kubectl ${namespace} exec deployment/${IMAGE} -- node src/main.ts export /data/backup.zst\nkubectl ${namespace} cp $(kubectl ${namespace} get pods --selector app.kubernetes.io/name=${IMAGE} --output name | cut -d/ -f2):/data/backup.zst backup.zst`,
      costs: 'the nodes, the persistent volumes and the load balancer of the ingress',
    }
  },
}

const PATH = 'deploy/kubernetes'

/** deploy/kubernetes/agent-server.yaml with the variables, the disk and the number of servers of this deployment. */
function server(plan: Plan): string {
  const text = plan.agent.project.files[`${PATH}/agent-server.yaml`] ?? ''
  const documents = parseAllDocuments(text, { version: '1.1' }).filter(
    (document) => plan.instances > 1 || document.get('kind') !== 'PodDisruptionBudget',
  )
  for (const document of documents) {
    if (document.get('kind') === 'ConfigMap') document.set('data', document.createNode(plan.plain))
    if (document.get('kind') === 'Deployment') adapt(document, plan)
  }
  const resources = documents.map((document) =>
    document
      .toString(YAML_OPTIONS)
      .replace(/^---\n/, '')
      .trimEnd(),
  )
  return `${[...(plan.isShared ? [] : [toYaml(CLAIM).trimEnd()]), ...resources].join('\n---\n')}\n`
}

const CLAIM = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: IMAGE },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
}
/** Seconds of a pod's termination before the server receives the signal. */
const PAUSE_SECONDS = 5

function adapt(deployment: Document, { instances, isShared, killSeconds, secrets }: Plan): void {
  const pod = ['spec', 'template', 'spec']
  const set = (path: readonly (string | number)[], value: unknown) =>
    deployment.setIn(path, deployment.createNode(value))
  set(['spec', 'replicas'], instances)
  set([...pod, 'terminationGracePeriodSeconds'], killSeconds + PAUSE_SECONDS)
  set([...pod, 'containers', 0, 'env'], secrets.map(secret))
  if (isShared) return
  // Two servers must never use the disk at the same time.
  set(['spec', 'strategy'], { type: 'Recreate' })
  set([...pod, 'volumes', 0], { name: 'data', persistentVolumeClaim: { claimName: IMAGE } })
}

function secret(name: string) {
  return { name, valueFrom: { secretKeyRef: { name: IMAGE, key: dashed(name) } } }
}
