import { buildAndPush, DATABASE_BACKUP, imageFiles } from '../image.ts'
import { IMAGE, type Plan, type Rendering, setInFile, type Target, toYaml } from '../target.ts'

export const digitalocean: Target = {
  name: 'digitalocean',
  title: 'DigitalOcean App Platform',
  facts: {
    storage: 'none',
    killSeconds: 600,
    sandboxes: ['embedded', 'e2b'],
    instances: 100,
  },
  setSecret: (name, { folder }) => setInFile(name, folder),
  render,
}

function render(plan: Plan): Rendering {
  const { folder, secrets, agent } = plan
  const image = `registry.digitalocean.com/$REGISTRY/${IMAGE}:${agent.project.version}`
  const push = buildAndPush(plan, image)
  // Read line by line, since a shell would interpret special characters in URLs; only the named
  // variables are substituted.
  const filled = `(while IFS= read -r line; do export "$line"; done < ${folder}/.env; envsubst '${secrets.map((name) => `$${name}`).join(' ')}' < ${folder}/app.yaml)`
  return {
    files: { ...imageFiles(plan), 'app.yaml': quoteNames(toYaml(specification(plan))) },
    prepare: [
      {
        title: 'Sign in to the registry, made before by `doctl registry create`',
        run: 'doctl registry login && export REGISTRY=$(doctl registry get --format Name --no-header)',
      },
    ],
    deploy: [
      { title: 'Build the image and push it', run: push },
      {
        title: 'Start it, with the secrets filled in on the way: the file keeps their names',
        run: `${filled} | doctl apps create --wait --spec -`,
      },
    ],
    update: `${push}\n${filled} | doctl apps update APP_ID --wait --update-sources --spec -   # as doctl apps list names it`,
    rollback:
      'open https://cloud.digitalocean.com/apps   # the app, Activity, the deployment before, Rollback',
    backup: DATABASE_BACKUP,
    costs: 'each instance by the month, the registry, traffic that leaves; PostgreSQL and Qdrant',
  }
}

/** Puts quotes around the placeholders of secrets, whose values may contain special characters of YAML. */
function quoteNames(yaml: string): string {
  return yaml.replaceAll(/^( *value: )(\$\{\w+\})$/gm, "$1'$2'")
}

function specification({ agent, plain, secrets, instances, killSeconds }: Plan) {
  const scope = 'RUN_TIME'
  return {
    name: IMAGE,
    services: [
      {
        name: IMAGE,
        image: { registry_type: 'DOCR', repository: IMAGE, tag: agent.project.version },
        http_port: 3000,
        instance_count: instances,
        instance_size_slug: 'apps-s-1vcpu-2gb',
        health_check: { http_path: '/readiness', period_seconds: 5, timeout_seconds: 4 },
        // Its failure causes a restart, so it does not check readiness.
        liveness_health_check: { http_path: '/health', period_seconds: 10, timeout_seconds: 5 },
        termination: { grace_period_seconds: killSeconds },
        envs: [
          ...Object.entries(plain).map(([key, value]) => ({ key, value, scope })),
          ...secrets.map((key) => ({ key, value: `\${${key}}`, type: 'SECRET', scope })),
        ],
      },
    ],
    ingress: { rules: [{ match: { path: { prefix: '/' } }, component: { name: IMAGE } }] },
  }
}
