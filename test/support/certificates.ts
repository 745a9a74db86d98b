import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { closeAfterUse } from './close-after-use.ts'
import { temporaryDirectory } from './temporary-files.ts'

const run = promisify(execFile)
const DAYS = '2'

export interface CertificateAuthority {
  /** The path of its own certificate. */
  certificate: string
  /** Makes a certificate for names such as `DNS:localhost` and `IP:127.0.0.1`; answers two paths. */
  issue(names: string): Promise<{ certificate: string; key: string }>
}

/** An authority of a test's own, made with `openssl`. */
export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  const directory = await temporaryDirectory()
  const at = (name: string) => join(directory, name)
  const openssl = (...parameters: string[]) => run('openssl', parameters, { cwd: directory })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const authority = ['-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=Test authority']
  await openssl('req', '-x509', ...newKey, ...authority, '-days', DAYS)
  let issued = 0
  return {
    certificate: at('ca.crt'),
    async issue(names) {
      const name = `server-${++issued}`
      await writeFile(at(`${name}.ext`), `subjectAltName=${names}\n`)
      const request = ['-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=test']
      await openssl('req', ...newKey, ...request)
      await openssl(
        ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key'],
        ...['-CAcreateserial', '-days', DAYS, '-extfile', `${name}.ext`, '-out', `${name}.crt`],
      )
      return { certificate: at(`${name}.crt`), key: at(`${name}.key`) }
    },
  }
}

/** Trusts an authority, whose certificate lies there, until the test is over. */
export function trust(certificate: string): void {
  const before = getCACertificates('default')
  closeAfterUse(() => setDefaultCACertificates(before))
  setDefaultCACertificates([...before, readFileSync(certificate, 'utf8')])
}
