import { IMAGE, makeVolume, type Plan, type Target, withSecret } from '../target.ts'

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
  render(plan) {
    const { folder, instances, host } = plan
    const config = `--config ${folder}/fly.toml`
    const deploy = `fly deploy ${config} --dockerfile ${folder}/Dockerfile --ignorefile ${folder}/Dockerfile.dockerignore .`
    return {
      files: { 'fly.toml': flyToml(plan) },
      prepare: [
        {
          title: 'Create the app; its name becomes part of its host name',
          run: `fly apps create ${IMAGE}`,
        },
        ...makeVolume(plan, `fly volumes create data --size 10 ${config}`),
      ],
      deploy: [
        { title: 'Build and start the server', run: deploy },
        {
          title: 'Set the number of machines',
          run: `fly scale count ${instances} ${config}`,
        },
      ],
      domain: [
        {
          title: `Request the certificate of ${host}, and create the DNS records that the second command names`,
          run: `fly certs add ${host} ${config}\nfly certs check ${host} ${config}   # until the certificate is issued`,
        },
      ],
      update: deploy,
      rollback: `fly releases --image ${config}   # lists the images\nfly deploy ${config} --image IMAGE`,
      backup: `fly ssh console ${config} --command "node src/main.ts export /data/backup.zst"\nfly ssh sftp get /data/backup.zst ${config}`,
      costs: 'the machines per second of running time, the volume by size, and outgoing traffic',
    }
  },
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
  # Fly.io sees only incoming traffic and would stop a machine that is still ingesting.
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
