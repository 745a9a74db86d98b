import Docker from 'dockerode'

/** Where an engine listens unless DOCKER_HOST says otherwise. */
const DEFAULT_SOCKET = '/var/run/docker.sock'

/** `host` as in DOCKER_HOST: `unix:///path` or `tcp://host:port`. */
export function connectEngine(host: string | undefined): Docker {
  if (host === undefined) return new Docker({ socketPath: DEFAULT_SOCKET })
  const { protocol, pathname, hostname, port } = new URL(host)
  if (protocol === 'unix:') return new Docker({ socketPath: pathname })
  return new Docker({ protocol: 'http', host: hostname, port: Number(port) })
}
