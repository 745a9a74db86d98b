import { DATABASE_BACKUP, imageFiles, makeVolume } from '../image.ts'
import { IMAGE, type Plan, type Rendering, type Target, withSecret } from '../target.ts'

/** The largest `http_options.idle_timeout` that Fly.io allows. */
const MAX_IDLE_SECONDS = 900

export const fly: Target = {
  name: 'fly',
  title: 'Fly.io',
  facts: {
    storage: 'disk',
    silenceSeconds: MAX_IDLE_SECONDS,
    killSeconds: 300,
    sandboxes: ['embedded', 'e2b'],
    instances: 100,
    proxies: 2,
  },
  setSecret: (name, { folder }) => {
    const importing = `fly secrets import --stage --config ${folder}/fly.toml`
    return withSecret(name, (value) => `echo "${name}=${value}" | ${importing}`)
  },
  render,
}

function render(plan: Plan): Rendering {
  const { folder, isShared, instances } = plan
  const config = `--config ${folder}/fly.toml`
  const deploy = `fly deploy ${config} --dockerfile ${folder}/Dockerfile --ignorefile ${folder}/Dockerfile.dockerignore .`
  return {
    files: { ...imageFiles(plan), 'fly.toml': flyToml(plan) },
    prepare: [
      { title: 'Make the app; its name is part of its address', run: `fly apps create ${IMAGE}` },
      ...makeVolume(plan, `fly volumes create data --size 10 ${config}`),
    ],
    deploy: [
      { title: 'Build and start it', run: deploy },
      {
        title: 'Have as many machines as asked for',
        run: `fly scale count ${instances} ${config}`,
      },
    ],
    update: deploy,
    rollback: `fly releases --image ${config}   # which names the images\nfly deploy ${config} --image IMAGE`,
    backup: isShared
      ? DATABASE_BACKUP
      : `fly ssh console ${config} --command "node src/main.ts export /data/backup.zst"\nfly ssh sftp get /data/backup.zst ${config}`,
    costs: 'the machines by the second that they run, the volume by its size, traffic that leaves',
  }
}

/** Strings in TOML are written like those in JSON. */
function flyToml(plan: Plan): string {
  const { folder, plain, isShared, killSeconds, requestSeconds } = plan
  const variables = Object.entries(plain).map(
    ([name, value]) => `  ${name} = ${JSON.stringify(value)}`,
  )
  const mounts = '\n[mounts]\n  source = "data"\n  destination = "/data"\n'
  return `app = "${IMAGE}"
kill_signal = "SIGTERM"
kill_timeout = ${killSeconds}

[build]
  dockerfile = "${folder}/Dockerfile"

[env]
${variables.join('\n')}
${isShared ? '' : mounts}
[http_service]
  internal_port = 3000
  force_https = true
  # Traffic that comes in is all that Fly sees: a machine that still ingests would be stopped.
  auto_stop_machines = "off"
  auto_start_machines = true
  min_machines_running = 1

  [http_service.http_options]
    idle_timeout = ${Math.min(requestSeconds, MAX_IDLE_SECONDS)}

  [[http_service.checks]]
    method = "GET"
    path = "/readiness"
    interval = "10s"
    timeout = "5s"
    grace_period = "60s"

[[vm]]
  size = "shared-cpu-2x"
  memory = "2gb"
`
}
