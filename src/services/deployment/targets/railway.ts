import { DATABASE_BACKUP, imageFiles, makeVolume } from '../image.ts'
import { type Plan, type Rendering, type Target, withSecret } from '../target.ts'

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
  render,
}

function render(plan: Plan): Rendering {
  const { folder, plain, isShared } = plan
  const settings = Object.entries(plain).map(
    ([name, value]) => `--set ${quote(`${name}=${value}`)}`,
  )
  return {
    files: {
      ...imageFiles(plan),
      'railway.json': `${JSON.stringify(railwayFile(plan), null, 2)}\n`,
    },
    prepare: [
      { title: 'Make the project and its service', run: 'railway init && railway add --service' },
      {
        title: `Open the service's settings, and give ${folder}/railway.json as its configuration file`,
        run: 'railway open',
      },
      ...makeVolume(plan, 'railway volume add --mount-path /data'),
    ],
    deploy: [
      ...(settings.length === 0
        ? []
        : [{ title: 'Set what is no secret', run: `railway variables ${settings.join(' ')}` }]),
      { title: 'Build and start it', run: 'railway up' },
      { title: 'Give it an address', run: 'railway domain' },
    ],
    update: 'railway up',
    rollback: 'railway open   # deployments, the one before, Rollback',
    backup: isShared
      ? DATABASE_BACKUP
      : 'railway open   # the volume, Backups: by hand, or by a schedule',
    costs: 'processor, memory and disk by the minute of their use, traffic that leaves',
  }
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
