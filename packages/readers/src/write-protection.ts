import { createDecipheriv, hash } from 'node:crypto'
import { readXml } from './formats/xml.ts'

/** With this password Excel encrypts workbooks that are only protected against changes: everybody may open them. */
export const PASSWORD = Buffer.from('VelvetSweatshop', 'utf16le')
/** More rounds than any program uses. */
const MAX_ROUNDS = 500_000
const SEGMENT_BYTES = 4_096

/** A package in the clear: [MS-OFFCRYPTO], 2.3.4. Undefined if it has another password, or an unknown way of encryption. */
export function openPackage(info: Buffer, encrypted: Buffer): Buffer | undefined {
  if (info.length < 8 || encrypted.length < 8) return undefined
  const size = Number(encrypted.readBigUInt64LE(0))
  const content = encrypted.subarray(8)
  const isAgile = info.readUInt16LE(0) === 4 && info.readUInt16LE(2) === 4
  const plain = isAgile ? openAgile(info.toString('utf8', 8), content) : openStandard(info, content)
  return plain?.subarray(0, size)
}

const little = (number: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  return bytes
}
const digest = (algorithm: string, ...parts: Buffer[]) =>
  hash(algorithm, Buffer.concat(parts), 'buffer')

function spun(algorithm: string, salt: Buffer, rounds: number): Buffer {
  let value = digest(algorithm, salt, PASSWORD)
  for (let round = 0; round < rounds; round++) value = digest(algorithm, little(round), value)
  return value
}

function decipher(key: Buffer, iv: Buffer | null, content: Buffer): Buffer {
  const mode = iv ? 'cbc' : 'ecb'
  const cipher = createDecipheriv(`aes-${key.length * 8}-${mode}`, key, iv)
  cipher.setAutoPadding(false)
  const whole = content.subarray(0, content.length - (content.length % 16))
  return Buffer.concat([cipher.update(whole), cipher.final()])
}

function padded(bytes: Buffer, length: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length), 0x36)], length)
}

const ROUNDS = 50_000

function openStandard(info: Buffer, content: Buffer): Buffer | undefined {
  const start = 12 + info.readUInt32LE(8)
  if (info.readUInt16LE(2) !== 2 || start + 72 > info.length) return undefined
  const keyBytes = info.readUInt32LE(28) / 8
  if (![16, 24, 32].includes(keyBytes)) return undefined
  const salt = info.subarray(start + 4, start + 20)
  const last = digest('sha1', spun('sha1', salt, ROUNDS), little(0))
  const inner = (filling: number) => {
    const block = Buffer.alloc(64, filling)
    for (const [place, byte] of last.entries()) block[place] = (block[place] ?? 0) ^ byte
    return digest('sha1', block)
  }
  const key = Buffer.concat([inner(0x36), inner(0x5c)]).subarray(0, keyBytes)
  const verifier = decipher(key, null, info.subarray(start + 20, start + 36))
  const expected = decipher(key, null, info.subarray(start + 40, start + 72)).subarray(0, 20)
  return digest('sha1', verifier).equals(expected) ? decipher(key, null, content) : undefined
}

const VERIFIER_INPUT = Buffer.from('fea7d2763b4b9e79', 'hex')
const VERIFIER_VALUE = Buffer.from('d7aa0f6d3061344e', 'hex')
const KEY_VALUE = Buffer.from('146e0be7abacd0d6', 'hex')
const ALGORITHMS = new Map([
  ['SHA1', 'sha1'],
  ['SHA256', 'sha256'],
  ['SHA384', 'sha384'],
  ['SHA512', 'sha512'],
])

function openAgile(xml: string, content: Buffer): Buffer | undefined {
  let data: Record<string, string> = {}
  let key: Record<string, string> = {}
  readXml(xml, {
    open(name, attributes) {
      if (name === 'keyData') data = attributes
      if (name.endsWith(':encryptedKey')) key = attributes
    },
  })
  const { saltValue = '', saltSize, keyBits, spinCount, hashAlgorithm = '' } = key
  const {
    encryptedVerifierHashInput: input = '',
    encryptedVerifierHashValue: value = '',
    encryptedKeyValue: keyValue = '',
  } = key
  const algorithm = ALGORITHMS.get(hashAlgorithm)
  const rounds = Number(spinCount)
  if (!algorithm || !(rounds <= MAX_ROUNDS)) return undefined
  const salt = Buffer.from(saltValue, 'base64')
  const base = spun(algorithm, salt, rounds)
  const open = (purpose: Buffer, text: string) => {
    const purposeKey = padded(digest(algorithm, base, purpose), Number(keyBits) / 8)
    return decipher(purposeKey, padded(salt, 16), Buffer.from(text, 'base64'))
  }
  const actual = digest(algorithm, open(VERIFIER_INPUT, input).subarray(0, Number(saltSize)))
  const expected = open(VERIFIER_VALUE, value).subarray(0, actual.length)
  return actual.equals(expected)
    ? openSegments(data, open(KEY_VALUE, keyValue), content)
    : undefined
}

function openSegments(
  { saltValue = '', keyBits, hashAlgorithm = '' }: Record<string, string>,
  secret: Buffer,
  content: Buffer,
): Buffer | undefined {
  const algorithm = ALGORITHMS.get(hashAlgorithm)
  if (!algorithm) return undefined
  const salt = Buffer.from(saltValue, 'base64')
  const key = secret.subarray(0, Number(keyBits) / 8)
  const segments: Buffer[] = []
  for (let at = 0; at < content.length; at += SEGMENT_BYTES) {
    const iv = padded(digest(algorithm, salt, little(at / SEGMENT_BYTES)), 16)
    segments.push(decipher(key, iv, content.subarray(at, at + SEGMENT_BYTES)))
  }
  return Buffer.concat(segments)
}
