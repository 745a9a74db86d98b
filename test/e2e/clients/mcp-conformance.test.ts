import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { verifies } from '../../requirements.ts'
import { long, onlyLong, someOf } from '../../support/long.ts'
import { startServer, TEST_KEY } from '../../support/server.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const SUITE = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)
const CLIENT = fileURLToPath(new URL('mcp-client.ts', import.meta.url))
const run = promisify(execFile)

const Checks = z.array(z.object({ id: z.string(), status: z.string() }))
/** The checks of each scenario that the suite has run. */
type Results = Map<string, z.output<typeof Checks>>

/** Runs the protocol's own suite; what it finds is in its files, and an exit code of it no failure of the test. */
async function runSuite(...options: string[]): Promise<Results> {
  const directory = await temporaryDirectory()
  await run(process.execPath, [SUITE, ...options, '--output-dir', directory]).catch(() => undefined)
  const results: Results = new Map()
  const entries = await readdir(directory, { recursive: true })
  for (const file of entries.filter((entry) => entry.endsWith('checks.json'))) {
    const scenario = file.replace(/-\d{4}-\d\d-\d\dT.*$/s, '').replace(/^server-/, '')
    results.set(scenario, Checks.parse(JSON.parse(await readFile(join(directory, file), 'utf8'))))
  }
  return results
}

const failedOf = (checks: z.output<typeof Checks>) =>
  checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id)

/** Of scenarios that pass otherwise. */
const UNTESTABLE = new Map([
  [
    'server-stateless',
    [
      // They call test_missing_capability, test_streaming_elicitation and test_logging_tool.
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-server-no-log-without-loglevel',
    ],
  ],
])

const OLDER = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
]
const CURRENT = [
  'server-stateless',
  'tools-list',
  'resources-list',
  'prompts-list',
  'sep-2164-resource-not-found',
  'caching',
  'dns-rebinding-protection',
  'http-header-validation',
  'server-sse-multiple-streams',
  'input-required-result-unsupported-methods',
  'input-required-result-validate-input',
]

describe("The protocol's own suite", () => {
  it.each(
    someOf<[string, string[]]>(
      [
        ['2026-07-28', CURRENT],
        ['2025-11-25', OLDER],
      ],
      1,
    ),
  )(
    'finds what /mcp offers as %s demands',
    { ...long, ...verifies('mcp.serves') },
    async (revision, passed) => {
      // The suite knows of no keys.
      const { url, ingest } = await startServer(
        {},
        {
          beforeListen: ({ server }) =>
            server.prependListener('request', ({ headers }) => {
              headers.authorization = `Bearer ${TEST_KEY}`
            }),
        },
      )
      await ingest({ title: 'Hours', text: 'The library opens at nine.' })
      const results = await runSuite('server', '--url', `${url}/mcp`, '--requirements', revision)
      for (const scenario of passed) {
        const checks = results.get(scenario) ?? []
        expect(checks.length, scenario).toBeGreaterThan(0)
        const failed = failedOf(checks).toSorted()
        expect(failed, scenario).toEqual((UNTESTABLE.get(scenario) ?? []).toSorted())
      }
    },
  )

  it.each([
    ['initialize', '2025-11-25'],
    ['tools_call', '2025-11-25'],
    ['sse-retry', '2025-11-25'],
    ['json-schema-2020-12-preservation', '2025-11-25'],
    ['auth/pre-registration', '2025-11-25'],
    ['auth/client-credentials-basic', '2025-11-25'],
    ['tools_call', '2026-07-28'],
    ['request-metadata', '2026-07-28'],
    ['http-standard-headers', '2026-07-28'],
    ['http-custom-headers', '2026-07-28'],
    ['http-invalid-tool-headers', '2026-07-28'],
    ['json-schema-ref-no-deref', '2026-07-28'],
    ['json-schema-2020-12-preservation', '2026-07-28'],
    ['auth/pre-registration', '2026-07-28'],
    ['auth/client-credentials-basic', '2026-07-28'],
  ])('finds our connection right: %s of %s', onlyLong, async (scenario, revision) => {
    const command = `"${process.execPath}" "${CLIENT}"`
    // With --force also what belongs to an extension.
    const asked = ['--scenario', scenario, '--spec-version', revision, '--force']
    const [checks = []] = (await runSuite('client', '--command', command, ...asked)).values()
    expect(checks.some(({ status }) => status === 'SUCCESS')).toBe(true)
    expect(failedOf(checks)).toEqual([])
  })
})
