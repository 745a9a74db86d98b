import { buildAndPush, DATABASE_BACKUP, imageFiles } from '../image.ts'
import { dashed, IMAGE, type Plan, type Rendering, type Target, toYaml } from '../target.ts'

export const cloudRun: Target = {
  name: 'cloud-run',
  title: 'Cloud Run',
  facts: {
    storage: 'none',
    requestSeconds: 3_600,
    killSeconds: 10,
    bodyBytes: 32_000_000,
    sandboxes: ['e2b'],
    isServerless: true,
    instances: 100,
    proxies: 1,
  },
  setSecret: (name) =>
    name === 'SERVER_API_KEY'
      ? `openssl rand -hex 24 | tr -d '\\n' | gcloud secrets create ${dashed(name)} --data-file=-`
      : `read -rs value && printf %s "$value" | gcloud secrets create ${dashed(name)} --data-file=-`,
  render,
}

const TAG =
  '$REGION-docker.pkg.dev/$PROJECT/agent-server/agent-server:$(git rev-parse --short HEAD)'

function render(plan: Plan): Rendering {
  const deploy = `${buildAndPush(plan, '"$IMAGE"')}\ngcloud run services replace <(sed "s|image: .*|image: $IMAGE|" ${plan.folder}/service.yaml) --region "$REGION"`
  return {
    files: { ...imageFiles(plan), 'service.yaml': toYaml(service(plan)) },
    prepare: [
      {
        title: 'Say where',
        run: `export PROJECT=$(gcloud config get project) REGION=europe-west1\nexport IMAGE=${TAG}`,
      },
      {
        title: 'Make the place for images',
        run: 'gcloud artifacts repositories create agent-server --repository-format=docker --location="$REGION" && gcloud auth configure-docker "$REGION-docker.pkg.dev"',
      },
    ],
    deploy: [
      {
        title: 'Let the service read its secrets',
        run: 'gcloud projects add-iam-policy-binding "$PROJECT" --member="serviceAccount:$(gcloud projects describe "$PROJECT" --format="value(projectNumber)")-compute@developer.gserviceaccount.com" --role=roles/secretmanager.secretAccessor',
      },
      { title: 'Build, push and start it', run: deploy },
      {
        title: 'Let its clients call it: the server asks for its own key',
        run: `gcloud run services add-iam-policy-binding ${IMAGE} --region "$REGION" --member=allUsers --role=roles/run.invoker`,
      },
    ],
    update: `export IMAGE=${TAG}\n${deploy}`,
    rollback: `gcloud run revisions list --service ${IMAGE} --region "$REGION"\ngcloud run services update-traffic ${IMAGE} --region "$REGION" --to-revisions REVISION=100`,
    backup: DATABASE_BACKUP,
    costs:
      'processor and memory of every instance around the clock, since ingestion goes on between requests; traffic that leaves; PostgreSQL and Qdrant',
  }
}

function service(plan: Plan) {
  const probe = { httpGet: { path: '/health', port: 3000 }, timeoutSeconds: 5 }
  return {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    metadata: { name: IMAGE, annotations: { 'run.googleapis.com/ingress': 'all' } },
    spec: {
      template: {
        metadata: {
          annotations: {
            'autoscaling.knative.dev/minScale': String(plan.instances),
            'autoscaling.knative.dev/maxScale': String(plan.instances),
            // Ingestion goes on after a document was acknowledged, and needs the processor then.
            'run.googleapis.com/cpu-throttling': 'false',
            'run.googleapis.com/startup-cpu-boost': 'true',
            'run.googleapis.com/execution-environment': 'gen2',
          },
        },
        spec: {
          containerConcurrency: 500,
          timeoutSeconds: plan.requestSeconds,
          containers: [
            {
              image: IMAGE,
              ports: [{ containerPort: 3000 }],
              env: [
                ...Object.entries(plan.plain).map(([name, value]) => ({ name, value })),
                ...plan.secrets.map((name) => ({
                  name,
                  valueFrom: { secretKeyRef: { name: dashed(name), key: 'latest' } },
                })),
              ],
              resources: { limits: { cpu: '1', memory: '2Gi' } },
              startupProbe: { ...probe, periodSeconds: 5, failureThreshold: 24 },
              livenessProbe: { ...probe, periodSeconds: 10 },
            },
          ],
        },
      },
    },
  }
}
