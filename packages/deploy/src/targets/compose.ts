import { posix } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { sandboxOf } from '../project.ts'
import { type Engine, POSTGRES } from '../settings.ts'
import { IMAGE, type Plan, type Target, toYaml, withSecret } from '../target.ts'

const PASSWORD = 'POSTGRES_PASSWORD'
const Service = z.record(z.string(), z.unknown())
const Variables = z.record(z.string(), z.string())
const ComposeFile = z.object({ services: z.record(z.string(), Service) })
/** A required variable in a Compose file: the command stops if it is not set. */
const required = (name: string) => `\${${name}:?set it in .env}`

/** A machine of one's own: Docker Compose, with Caddy in front for TLS. */
export const compose: Target = {
  name: 'compose',
  title: 'Docker Compose',
  facts: {
    storage: 'disk',
    killSeconds: 600,
    sandboxes: ['embedded', 'docker', 'e2b'],
    hasServiceNames: true,
    machine: 'host.docker.internal',
    engines: 'all',
    instances: 1,
    proxies: 1,
  },
  // In single quotes, since Compose would replace what follows a dollar sign.
  setSecret: (name, { folder }) =>
    withSecret(name, (value) => `echo "${name}='${value}'" >> ${folder}/.env`),
  render(plan) {
    const { folder, domain = 'localhost', host, engines } = plan
    const run = `docker compose --file ${folder}/compose.yaml --env-file ${folder}/.env`
    return {
      files: {
        'compose.yaml': toYaml(composeFile(plan)),
        Caddyfile: `${domain} {\n\treverse_proxy agent-server:3000\n}\n`,
      },
      prepare: host
        ? [
            {
              title: `Point the DNS records of ${host} to this machine and open ports 80 and 443; Caddy obtains the certificate itself`,
              run: `getent ahosts ${host}   # must show the address of this machine`,
            },
          ]
        : [],
      deploy: [
        { title: 'Build the image', run: `${run} build` },
        { title: 'Start all services', run: `${run} up --detach --wait` },
      ],
      update: `git pull && docker tag ${IMAGE} ${IMAGE}:before && ${run} up --detach --build --wait`,
      rollback: `docker tag ${IMAGE}:before ${IMAGE} && ${run} up --detach --no-build --wait`,
      backup: engines.includes(POSTGRES)
        ? `${run} exec postgres pg_dump --username agent agent | gzip > backup.sql.gz`
        : `${run} exec --user 1000:1000 agent-server node src/main.ts export /data/backup.zst && ${run} cp agent-server:/data/backup.zst .`,
      costs: 'the machine and its disk; requests are not charged',
    }
  },
}

/** docker-compose.yml reduced to what this deployment needs, plus Caddy. */
function composeFile(plan: Plan) {
  const { agent, folder, killSeconds, engines } = plan
  const { services } = ComposeFile.parse(parse(agent.project.files['docker-compose.yml'] ?? ''))
  const { ports: _ports, profiles: _profiles, ...server } = services['agent-server'] ?? {}
  const healthy = (name: string) => [name, { condition: 'service_healthy' }]
  const withDocker = sandboxOf(agent.configuration) === 'docker'
  return {
    name: IMAGE,
    services: {
      'agent-server': {
        ...server,
        build: { context: posix.relative(folder, '.'), dockerfile: `${folder}/Dockerfile` },
        environment: environment(plan),
        depends_on: Object.fromEntries(engines.map(({ name }) => healthy(name))),
        stop_grace_period: `${killSeconds}s`,
        ...(withDocker && {
          volumes: ['data:/data', '/var/run/docker.sock:/var/run/docker.sock'],
          group_add: [required('DOCKER_GROUP')],
        }),
      },
      caddy: {
        image: 'caddy:2-alpine',
        ports: ['80:80', '443:443', '443:443/udp'],
        volumes: ['./Caddyfile:/etc/caddy/Caddyfile:ro', 'certificates:/data'],
        depends_on: Object.fromEntries([healthy('agent-server')]),
        cap_drop: ['ALL'],
        // Caddy's binary requires this capability.
        cap_add: ['NET_BIND_SERVICE'],
        restart: 'unless-stopped',
        mem_limit: '256m',
      },
      ...Object.fromEntries(
        engines.map((each) => [each.name, withSecrets(each, services[each.name], plan)]),
      ),
    },
    volumes: Object.fromEntries(
      ['data', 'certificates', ...engines.map(({ name }) => name)].map((name) => [name, null]),
    ),
  }
}

function environment({ plain, secrets, engines }: Plan) {
  // Escaped, since a dollar sign would begin a variable reference.
  const settings = Object.entries(plain).map(([name, value]) => [
    name,
    value.replaceAll('$', '$$$$'),
  ])
  // The password is not in the URL, where special characters would have to be escaped.
  const database = {
    DATABASE_URL: 'postgres://agent@postgres:5432/agent',
    PGPASSWORD: required(PASSWORD),
  }
  const entries = secrets.filter((name) => name !== PASSWORD).map((name) => [name, required(name)])
  return {
    ...Object.fromEntries([...settings, ...entries]),
    ...(engines.includes(POSTGRES) && database),
  }
}

/** The engine as in docker-compose.yml, with its secrets taken from variables. */
function withSecrets({ key }: Engine, service: Record<string, unknown> = {}, { secrets }: Plan) {
  const { profiles: _profiles, environment: given, ...rest } = service
  const environment = Variables.parse(given)
  if ('POSTGRES_PASSWORD' in environment) environment.POSTGRES_PASSWORD = required(PASSWORD)
  else if (key && secrets.includes(key.variable)) environment[key.setting] = required(key.variable)
  return { ...rest, environment }
}
