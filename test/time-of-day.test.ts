import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from './support/source-tree.ts'

/** Where the time of day is meant, because it is shown, stored, or compared with what others have written. */
const MEANT = `
packages/client/src/transport.ts
packages/compat/src/files/batches.ts
packages/compat/src/files/stores.ts
packages/deploy/src/verify.ts
packages/lib/src/backoff.ts
packages/mcp-server/src/sign-in/grants.ts
packages/mcp-server/src/sign-in/oauth.ts
packages/mcp-server/src/sign-in/sealed.ts
packages/models/src/model-closings.ts
packages/models/src/upstream/retry-after.ts
packages/sandboxes/src/docker/docker-sandbox.ts
packages/sandboxes/src/embedded/file-system.ts
packages/sandboxes/src/embedded/wasi.ts
packages/stores/src/sqlite/connection.ts
packages/wire/src/models.ts
src/agent/mcp/accounts.ts
src/agent/mcp/personal-server.ts
src/agent/tools/artifacts.ts
src/dialects/completions/dialect.ts
src/dialects/completions/text-dialect.ts
src/dialects/responses/dialect.ts
src/dialects/responses/writer.ts
src/documents/ingestion/worker.ts
src/documents/web/fetch-content.ts
src/documents/web/pages.ts
src/documents/webhooks/webhooks.ts
src/operator/admin/agent-versions.ts
src/operator/audit/audit.ts
src/operator/keys/keys.ts
src/operator/ops/activity.ts
src/operator/people/company-accounts.ts
src/operator/people/people.ts
src/operator/people/person-sessions.ts
src/operator/usage/ledger.ts
src/operator/usage/report.ts
src/operator/web-ui/sessions.ts`
  .trim()
  .split('\n')

it('How long something lasts within the process is measured by a clock that nobody sets', () => {
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: ROOT })
  const reading = files.filter((file) => {
    return readFileSync(new URL(file, ROOT), 'utf8').includes('Date.now')
  })
  const others = reading.filter((file) => !MEANT.includes(file)).toSorted()
  expect(others, 'use performance.now(), or name the file above').toEqual([])
})
