import Docker from 'dockerode'
import { AppError } from '../../errors.ts'

/** Where an engine listens unless DOCKER_HOST says otherwise. */
const DEFAULT_SOCKET = '/var/run/docker.sock'

/** `host` as in DOCKER_HOST: `unix:///path` or `tcp://host:port`. Throws `sandbox_unavailable` for any other. */
export function connectEngine(host: string | undefined): Docker {
  if (host === undefined) return new Docker({ socketPath: DEFAULT_SOCKET })
  const url = URL.parse(host)
  if (url?.protocol === 'unix:') return new Docker({ socketPath: url.pathname })
  if (url?.protocol === 'tcp:' && url.port !== '') {
    return new Docker({ protocol: 'http', host: url.hostname, port: Number(url.port) })
  }
  throw new AppError('sandbox_unavailable', 'DOCKER_HOST must be unix:///path or tcp://host:port')
}
