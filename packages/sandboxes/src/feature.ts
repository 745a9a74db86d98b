import { group, httpUrl, upstreamKey } from '@agent-server/lib/variable-types.ts'
import { z } from 'zod'

const sandbox = group('Sandbox')

/** The settings of sandboxes, as a feature of the server. */
export const sandboxes = {
  name: 'sandboxes',
  variables: {
    DOCKER_HOST: sandbox(
      z.string().max(1_000).optional(),
      'Container engine of the `docker` sandbox: `unix:///path` or `tcp://host:port`. Not set: `/var/run/docker.sock`. See docs/guides/sandboxes.md.',
    ),
    E2B_API_KEY: sandbox(
      upstreamKey(),
      'Key for running code at E2B. See docs/guides/sandboxes.md.',
    ),
    E2B_API_URL: sandbox(
      httpUrl.optional(),
      'Your own installation of E2B. Not set: `https://api.e2b.app`.',
    ),
  },
  labels: { DOCKER_HOST: 'Container engine', E2B_API_KEY: 'E2B key', E2B_API_URL: 'E2B URL' },
}
