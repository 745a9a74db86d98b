import { buildAndPush, dashed, entriesOf, fill, IMAGE, type Target, withSecret } from '../target.ts'

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
  setSecret: (name) => {
    const create = `gcloud secrets create ${dashed(name)} --data-file=-`
    return withSecret(name, (value) => `printf %s "${value}" | ${create}`)
  },
  render(plan) {
    const { host } = plan
    const mappings = 'gcloud beta run domain-mappings'
    const mapped = `--domain ${host} --region "$REGION"`
    const deploy = `${buildAndPush(plan, '"$IMAGE"')}\ngcloud run services replace <(sed "s|image: .*|image: $IMAGE|" ${plan.folder}/service.yaml) --region "$REGION"`
    return {
      files: {
        'service.yaml': fill(plan, 'cloud-run', {
          ENVIRONMENT: entriesOf<object>(
            plan,
            (name, value) => ({ name, value }),
            (name) => ({
              name,
              valueFrom: { secretKeyRef: { name: dashed(name), key: 'latest' } },
            }),
          ),
        }),
      },
      prepare: [
        {
          title: 'Choose the project and region',
          run: `export PROJECT=$(gcloud config get project) REGION=europe-west1\nexport IMAGE=${TAG}`,
        },
        {
          title: 'Create the image repository',
          run: 'gcloud artifacts repositories create agent-server --repository-format=docker --location="$REGION" && gcloud auth configure-docker "$REGION-docker.pkg.dev"',
        },
      ],
      deploy: [
        {
          title: 'Allow the service to read its secrets',
          run: 'gcloud projects add-iam-policy-binding "$PROJECT" --member="serviceAccount:$(gcloud projects describe "$PROJECT" --format="value(projectNumber)")-compute@developer.gserviceaccount.com" --role=roles/secretmanager.secretAccessor',
        },
        { title: 'Build, push and start the server', run: deploy },
        {
          title: 'Allow public access; the server checks its own key',
          run: `gcloud run services add-iam-policy-binding ${IMAGE} --region "$REGION" --member=allUsers --role=roles/run.invoker`,
        },
      ],
      domain: [
        {
          title: `Map ${host}, and create the DNS records that the last command shows; the certificate follows. Regions without domain mappings need a load balancer`,
          run: `gcloud domains verify ${host}\n${mappings} create --service ${IMAGE} ${mapped}\n${mappings} describe ${mapped}`,
        },
      ],
      update: `export IMAGE=${TAG}\n${deploy}`,
      rollback: `gcloud run revisions list --service ${IMAGE} --region "$REGION"\ngcloud run services update-traffic ${IMAGE} --region "$REGION" --to-revisions REVISION=100`,
      costs: `processor and memory of every instance around the clock, since ingestion continues between requests; outgoing traffic, ${plan.sharedEngines}`,
    }
  },
}

const TAG =
  '$REGION-docker.pkg.dev/$PROJECT/agent-server/agent-server:$(git rev-parse --short HEAD)'
