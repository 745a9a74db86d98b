import { mayBeLocked } from './refusals.ts'

/**
 * A workbook that is only protected against changes, in the clear; any other file as it is. Excel encrypts such workbooks
 * with a password that everybody knows.
 */
export async function unlockWorkbook(bytes: Buffer): Promise<Buffer> {
  if (!mayBeLocked(bytes)) return bytes
  const { CFB } = await import('@e965/xlsx')
  const container = CFB.read(bytes, { type: 'buffer' })
  const streamOf = (name: string) => {
    const content = CFB.find(container, name)?.content
    return content && Buffer.from(content)
  }
  const [info, encrypted] = [streamOf('EncryptionInfo'), streamOf('EncryptedPackage')]
  if (info && encrypted) {
    const { openPackage } = await import('./write-protection.ts')
    return openPackage(info, encrypted) ?? bytes
  }
  const stream = streamOf('Workbook')
  const { openStream } = await import('./xls-protection.ts')
  const plain = stream && openStream(stream)
  if (!plain) return bytes
  CFB.utils.cfb_add(container, '/Workbook', plain)
  return Buffer.from(CFB.write(container, { type: 'buffer' }))
}
