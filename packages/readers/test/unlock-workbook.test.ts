import { createCipheriv, hash } from 'node:crypto'
import { CFB, utils, write } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { extractFile } from '../src/extract-file.ts'
import { sourceFile } from './source-file.ts'

// Encryption of [MS-OFFCRYPTO], 2.3.4 to 2.3.6, written apart from the decryption. msoffcrypto-tool opens such an XLS, and
// an XLSX that it encrypted was read.

const BOOK = utils.book_new(
  utils.aoa_to_sheet([['Bird', 'Pairs'], ...Array.from({ length: 400 }, (_, n) => [`b${n}`, n])]),
  'Birds',
)
const little = (number: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  return bytes
}
const wide = (text: string) => Buffer.from(text, 'utf16le')
const SALT = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
const SECRET = Buffer.alloc(32, 7)

function container(streams: Record<string, Buffer>): Buffer {
  const archive = CFB.utils.cfb_new()
  for (const [name, content] of Object.entries(streams)) {
    CFB.utils.cfb_add(archive, `/${name}`, content)
  }
  return Buffer.from(CFB.write(archive, { type: 'buffer' }))
}

function encipher(key: Buffer, iv: Buffer | null, plain: Buffer): Buffer {
  const cipher = createCipheriv(`aes-${key.length * 8}-${iv ? 'cbc' : 'ecb'}`, key, iv)
  cipher.setAutoPadding(false)
  const filled = Buffer.concat([plain, Buffer.alloc((16 - (plain.length % 16)) % 16)])
  return Buffer.concat([cipher.update(filled), cipher.final()])
}

function agile(plain: Buffer, password: string): Buffer {
  const sha = (...parts: Buffer[]) => hash('sha512', Buffer.concat(parts), 'buffer')
  let base = sha(SALT, wide(password))
  for (let round = 0; round < 1_000; round++) base = sha(little(round), base)
  const seal = (purpose: string, value: Buffer) =>
    encipher(sha(base, Buffer.from(purpose, 'hex')).subarray(0, 32), SALT, value).toString('base64')
  const verifier = Buffer.alloc(16, 3)
  const key = `saltSize="16" blockSize="16" keyBits="256" hashSize="64" cipherAlgorithm="AES" cipherChaining="ChainingModeCBC" hashAlgorithm="SHA512" saltValue="${SALT.toString('base64')}"`
  const xml = `<encryption><keyData ${key}/><keyEncryptors><keyEncryptor><p:encryptedKey spinCount="1000" ${key} encryptedVerifierHashInput="${seal('fea7d2763b4b9e79', verifier)}" encryptedVerifierHashValue="${seal('d7aa0f6d3061344e', sha(verifier))}" encryptedKeyValue="${seal('146e0be7abacd0d6', SECRET)}"/></keyEncryptor></keyEncryptors></encryption>`
  const segments = Array.from({ length: Math.ceil(plain.length / 4_096) }, (_, n) =>
    encipher(
      SECRET,
      sha(SALT, little(n)).subarray(0, 16),
      plain.subarray(n * 4_096, (n + 1) * 4_096),
    ),
  )
  const info = Buffer.concat([Buffer.from([4, 0, 4, 0, 0x40, 0, 0, 0]), Buffer.from(xml)])
  const size = Buffer.concat([little(plain.length), little(0)])
  return container({ EncryptionInfo: info, EncryptedPackage: Buffer.concat([size, ...segments]) })
}

function standard(plain: Buffer, password: string): Buffer {
  const sha = (...parts: Buffer[]) => hash('sha1', Buffer.concat(parts), 'buffer')
  let base = sha(SALT, wide(password))
  for (let round = 0; round < 50_000; round++) base = sha(little(round), base)
  const last = sha(base, little(0))
  const block = Buffer.alloc(64, 0x36)
  for (const [place, byte] of last.entries()) block.writeUInt8(0x36 ^ byte, place)
  const key = sha(block).subarray(0, 16)
  const verifier = Buffer.alloc(16, 3)
  const header = Buffer.alloc(32)
  header.writeUInt32LE(128, 16)
  const info = Buffer.concat([
    Buffer.from([4, 0, 2, 0, 0x24, 0, 0, 0]),
    ...[little(header.length), header, little(16), SALT],
    ...[encipher(key, null, verifier), little(20), encipher(key, null, sha(verifier))],
  ])
  const size = Buffer.concat([little(plain.length), little(0)])
  const content = Buffer.concat([size, encipher(key, null, plain)])
  return container({ EncryptionInfo: info, EncryptedPackage: content })
}

const md5 = (...parts: Buffer[]) => hash('md5', Buffer.concat(parts), 'buffer')

function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Array.from({ length: 256 }, (_, place) => place)
  const at = (place: number) => state[place & 255] ?? 0
  const swap = (one: number, other: number) =>
    state.splice(one, 1, ...state.splice(other, 1, at(one)))
  let j = 0
  for (let i = 0; i < 256; i++) {
    j = (j + at(i) + (key[i % 16] ?? 0)) & 255
    swap(i, j)
  }
  j = 0
  const bytes = data.map((byte, n) => {
    const i = (n + 1) & 255
    j = (j + at(i)) & 255
    swap(i, j)
    return byte ^ at(at(i) + at(j))
  })
  return Buffer.from(bytes)
}

function oldWorkbook(password: string): Buffer {
  const archive = CFB.read(write(BOOK, { type: 'buffer', bookType: 'biff8' }), { type: 'buffer' })
  const plain = Buffer.from(CFB.find(archive, 'Workbook')?.content ?? [])
  const short = md5(wide(password)).subarray(0, 5)
  const key = md5(...Array.from({ length: 16 }, () => [short, SALT]).flat()).subarray(0, 5)
  const blockKey = (block: number) => md5(key, little(block))
  const verifier = Buffer.alloc(16, 3)
  const verifiers = rc4(blockKey(0), Buffer.concat([verifier, md5(verifier)]))
  const pass = Buffer.concat([Buffer.from([0x2f, 0, 54, 0, 1, 0, 1, 0, 1, 0]), SALT, verifiers])
  const first = 4 + plain.readUInt16LE(2)
  const stream = Buffer.concat([plain.subarray(0, first), pass, plain.subarray(first)])
  const blocks = Array.from({ length: Math.ceil(stream.length / 1_024) }, (_, block) =>
    rc4(blockKey(block), Buffer.alloc(1_024)),
  )
  seal(stream, Buffer.concat(blocks), pass.length)
  CFB.utils.cfb_add(archive, '/Workbook', stream)
  return Buffer.from(CFB.write(archive, { type: 'buffer' }))
}

/** Encrypts the contents of records in their place; sheets begin further back by what was added. */
function seal(stream: Buffer, mask: Buffer, added: number): void {
  for (let at = 0; at + 4 <= stream.length; at += 4 + stream.readUInt16LE(at + 2)) {
    const type = stream.readUInt16LE(at)
    if (type === 0x85) stream.writeUInt32LE(stream.readUInt32LE(at + 4) + added, at + 4)
    if ([0x809, 0x2f, 0xe1].includes(type)) continue
    const end = at + 4 + stream.readUInt16LE(at + 2)
    for (let place = at + (type === 0x85 ? 8 : 4); place < end; place++) {
      stream.writeUInt8((stream[place] ?? 0) ^ (mask[place] ?? 0), place)
    }
  }
}

const xlsx = Buffer.from(write(BOOK, { type: 'buffer' }))
const FILES: [string, (password: string) => Buffer][] = [
  ['XLSX, as Excel writes it today', (password) => agile(xlsx, password)],
  ['XLSX, as Excel 2007 wrote it', (password) => standard(xlsx, password)],
  ['XLS', oldWorkbook],
]

describe.each(FILES)('A workbook of type %s', (_name, encrypt) => {
  it('that is only protected against changes is read', async () => {
    const { text } = await extractFile(sourceFile('birds', encrypt('VelvetSweatshop')))
    expect(text).toContain('- Bird: b399; Pairs: 399\n')
  })

  it('with a password of its own is refused for it', async () => {
    const reading = extractFile(sourceFile('birds', encrypt('secret')))
    await expect(reading).rejects.toMatchObject({ code: 'encrypted_file' })
  })
})
