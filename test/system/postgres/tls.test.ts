import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createPostgresStore } from '../../../packages/stores/src/postgres/postgres-store.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { hasPostgresEngine, startPostgresEngine } from '../../support/postgres-engine.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { startServerProcess } from '../../support/server-process.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { runSql } from './store-data.ts'

const PASSWORD = 'a-password-that-nobody-may-see'
const SILENT = { info: () => undefined, warn: () => undefined }

async function startWithTls(names = 'IP:127.0.0.1') {
  const engine = await startPostgresEngine()
  const authority = await createCertificateAuthority()
  const { certificate, key } = await authority.issue(names)
  await engine.adopt(certificate, 'server.crt')
  await engine.adopt(key, 'server.key')
  await runSql(engine.url, 'ALTER SYSTEM SET ssl = on')
  await runSql(engine.url, 'SELECT pg_reload_conf()')
  const to = (parameters: Record<string, string>) => {
    const url = Object.assign(new URL(engine.url), { password: PASSWORD })
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  }
  return { engine, authority, to }
}

const open = (url: string) => createPostgresStore({ url, poolSize: 2, queueLimit: 9, log: SILENT })

/** What a start says that is refused. */
async function refusal(url: string): Promise<string> {
  const error: unknown = await open(url).then(
    () => new Error('It was not refused'),
    (thrown: unknown) => thrown,
  )
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASSWORD)
  expect(error).toMatchObject({ code: 'store_unavailable' })
  return error instanceof Error ? error.message : ''
}

describe.skipIf(!hasPostgresEngine)('A connection with TLS (needs PostgreSQL, as root)', () => {
  it('is made with every sslmode whose demands the certificate meets', async () => {
    const { engine, authority, to } = await startWithTls()
    const sslrootcert = authority.certificate
    for (const parameters of [
      { sslmode: 'verify-full', sslrootcert },
      { sslmode: 'verify-ca', sslrootcert },
      { sslmode: 'require', sslrootcert },
      { sslmode: 'require' },
    ]) {
      const store = await open(to(parameters))
      await store.add({ id: JSON.stringify(parameters), text: 'x' })
      const connections = () =>
        runSql(
          engine.url,
          `SELECT bool_and(ssl) AS encrypted, count(*) > 1 AS several
          FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'agent-server'`,
        )
      // The connection that listens may come after the others.
      await expect.poll(connections).toEqual([{ encrypted: true, several: true }])
      await store.close()
    }
  })

  it('is refused for an untrusted certificate', async () => {
    const { to } = await startWithTls()
    const other = await createCertificateAuthority()
    for (const parameters of [
      { sslmode: 'verify-full' },
      { sslmode: 'verify-full', sslrootcert: other.certificate },
      { sslmode: 'verify-ca', sslrootcert: other.certificate },
      { sslmode: 'require', sslrootcert: other.certificate },
    ]) {
      expect(await refusal(to(parameters))).toMatch(
        /^PostgreSQL at 127\.0\.0\.1:\d+\/postgres is unavailable: its certificate is not from a trusted authority: set the right one with sslrootcert$/,
      )
    }
  })

  it('is refused by verify-full alone where the certificate is for another host', async () => {
    const { authority, to } = await startWithTls('DNS:database.example')
    const sslrootcert = authority.certificate
    expect(await refusal(to({ sslmode: 'verify-full', sslrootcert }))).toMatch(
      /is unavailable: its certificate is for another host name$/,
    )
    await (await open(to({ sslmode: 'verify-ca', sslrootcert }))).close()
  })

  it('is refused where there is no TLS, and where a file that is named is not there', async () => {
    const engine = await startPostgresEngine()
    expect(await refusal(`${engine.url}?sslmode=require`)).toMatch(/it has no TLS/)
    const missing = join(await temporaryDirectory(), 'no-such.crt')
    expect(await refusal(`${engine.url}?sslmode=verify-full&sslrootcert=${missing}`)).toMatch(
      /a file named in DATABASE_URL does not exist/,
    )
    expect(await refusal(`${engine.url}?sslmode=verify-ca`)).toMatch(/needs sslrootcert/)
  })

  it('is what a whole server works with, and says nothing of on standard error', async () => {
    const { authority, to } = await startWithTls()
    const qdrant = await startFakeQdrant()
    const url = to({ sslmode: 'verify-full', sslrootcert: authority.certificate })
    const server = await startServerProcess({ DATABASE_URL: url, QDRANT_URL: qdrant.url })
    await server.ingest({ title: 'Otters', text: 'Otters hold hands.' })
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(server.stderr).toBe('')
    expect(server.stdout).not.toContain(PASSWORD)
  })
})
