import { makeVolume, type Plan, type Target, withSecret } from '../target.ts'

export const railway: Target = {
  name: 'railway',
  title: 'Railway',
  facts: {
    storage: 'disk',
    requestSeconds: 900,
    silenceSeconds: 300,
    killSeconds: 300,
    sandboxes: ['embedded', 'e2b'],
    instances: 50,
  },
  setSecret: (name) => withSecret(name, (value) => `railway variables --set "${name}=${value}"`),
  render(plan) {
    const { folder, plain, host } = plan
    const settings = Object.entries(plain).map(
      ([name, value]) => `--set ${quote(`${name}=${value}`)}`,
    )
    return {
      files: {
        'railway.json': `${JSON.stringify(railwayFile(plan), null, 2)}\n`,
      },
      prepare: [
        {
          title: 'Create the project and its service',
          run: 'railway init && railway add --service',
        },
        {
          title: `Open the service's settings and enter ${folder}/railway.json as its configuration file`,
          run: 'railway open',
        },
        ...makeVolume(plan, 'railway volume add --mount-path /data'),
      ],
      deploy: [
        ...(settings.length === 0
          ? []
          : [
              {
                title: 'Set the variables that are not secret',
                run: `railway variables ${settings.join(' ')}`,
              },
            ]),
        { title: 'Build and start the server', run: 'railway up' },
        host
          ? {
              title: `Add ${host}, and create the DNS record that is shown; the certificate follows`,
              run: `railway domain ${host}`,
            }
          : { title: 'Create a domain', run: 'railway domain' },
      ],
      update: 'railway up',
      rollback: 'railway open   # select Deployments, the previous one, Rollback',
      backup: 'railway open   # select the volume, Backups: manually or on a schedule',
      costs: 'processor, memory and disk per minute of use, and outgoing traffic',
    }
  },
}

function railwayFile({ folder, instances, killSeconds, isShared }: Plan) {
  return {
    $schema: 'https://railway.com/railway.schema.json',
    build: { builder: 'DOCKERFILE', dockerfilePath: `${folder}/Dockerfile` },
    deploy: {
      healthcheckPath: '/health',
      healthcheckTimeout: 300,
      restartPolicyType: 'ALWAYS',
      numReplicas: instances,
      drainingSeconds: killSeconds,
      sleepApplication: false,
      ...(!isShared && { requiredMountPath: '/data' }),
    },
  }
}

/** Quotes a text as a single word for a shell, whatever it contains. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
