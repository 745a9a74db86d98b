import { buildAndPush, entriesOf, fill, IMAGE, setInFile, type Target } from '../target.ts'

export const digitalocean: Target = {
  name: 'digitalocean',
  title: 'DigitalOcean App Platform',
  facts: {
    storage: 'none',
    killSeconds: 600,
    sandboxes: ['embedded', 'e2b'],
    instances: 100,
  },
  setSecret: (name, plan) => setInFile(name, plan),
  render(plan) {
    const { folder, secrets, agent, host } = plan
    const image = `registry.digitalocean.com/$REGISTRY/${IMAGE}:${agent.project.version}`
    const push = buildAndPush(plan, image)
    // Read line by line, since a shell would interpret special characters in URLs; only the named
    // variables are substituted.
    const filled = `(while IFS= read -r line; do export "$line"; done < ${folder}/.env; envsubst '${secrets.map((name) => `$${name}`).join(' ')}' < ${folder}/app.yaml)`
    return {
      files: {
        'app.yaml': quoteNames(
          fill(plan, 'digitalocean', {
            DOMAINS: host && [{ domain: host, type: 'PRIMARY' }],
            ENVIRONMENT: entriesOf<object>(
              plan,
              (key, value) => ({ key, value, scope: 'RUN_TIME' }),
              (key) => ({ key, value: `\${${key}}`, type: 'SECRET', scope: 'RUN_TIME' }),
            ),
          }),
        ),
      },
      prepare: [
        {
          title: 'Sign in to the registry, created with `doctl registry create`',
          run: 'doctl registry login && export REGISTRY=$(doctl registry get --format Name --no-header)',
        },
      ],
      deploy: [
        { title: 'Build and push the image', run: push },
        {
          title:
            'Start the app. The secrets are filled in on the way; the file contains only their names',
          run: `${filled} | doctl apps create --wait --spec -`,
        },
      ],
      domain: [
        {
          title: `Create a CNAME record of ${host} with the host name shown; the certificate follows`,
          run: 'doctl apps list --format Spec.Name,DefaultIngress',
        },
      ],
      update: `${push}\n${filled} | doctl apps update APP_ID --wait --update-sources --spec -   # see doctl apps list`,
      rollback:
        'open https://cloud.digitalocean.com/apps   # select the app, Activity, the previous deployment, Rollback',
      costs: `each instance per month, the registry, outgoing traffic, ${plan.sharedEngines}`,
    }
  },
}

/** Puts quotes around the placeholders of secrets, whose values may contain special characters of YAML. */
function quoteNames(yaml: string): string {
  return yaml.replaceAll(/^( *value: )(\$\{\w+\})$/gm, "$1'$2'")
}
