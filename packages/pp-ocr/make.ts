// Makes the files of this package from the wheel of RapidOCR; README.md says how. The weights are taken as they are; the
// characters that they know are in the metadata of the second. All must match SHA256SUMS.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { openZip } from '@agent-server/readers'

const MODELS = 'rapidocr/models/PP-OCRv6_'
const here = (name: string) => new URL(name, import.meta.url)

/** Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. */
const METADATA = 14
const [KEY, VALUE] = [1, 2]
/** Types of fields in protocol buffers: a number, and bytes after their length. */
const [NUMBER, BYTES] = [0, 2]

/** The fields of a message that hold bytes, which are all that is needed here. */
function* fieldsOf(message: Buffer): Generator<{ field: number; bytes: Buffer }> {
  let at = 0
  const number = () => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const byte = message[at++] ?? 0
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = number()
    const value = number()
    if (tag % 8 === NUMBER) continue
    if (tag % 8 !== BYTES) throw new Error('The model has fields of an unknown type')
    yield { field: Math.floor(tag / 8), bytes: message.subarray(at, at + value) }
    at += value
  }
}

function charactersOf(model: Buffer): Buffer {
  for (const { field, bytes } of fieldsOf(model)) {
    if (field !== METADATA) continue
    const entry = new Map(Array.from(fieldsOf(bytes), (one) => [one.field, one.bytes]))
    const value = entry.get(VALUE)
    if (entry.get(KEY)?.toString() === 'character' && value) return value
  }
  throw new Error('The model has no characters')
}

const [wheel] = process.argv.slice(2)
if (wheel === undefined) throw new Error('Name the wheel, such as rapidocr-3.10.0-py3-none-any.whl')
const zip = await openZip(await readFile(wheel))
const recognition = await zip.readBytes(`${MODELS}rec_small.onnx`)
const files = new Map([
  ['detection.onnx', await zip.readBytes(`${MODELS}det_small.onnx`)],
  ['recognition.onnx', recognition],
  ['characters.txt', charactersOf(recognition)],
])
const sums = await readFile(here('SHA256SUMS'), 'utf8')
for (const [name, content] of files) {
  const digest = createHash('sha256').update(content).digest('hex')
  if (!sums.includes(`${digest}  ${name}\n`))
    throw new Error(`${name} is not the original: ${digest}`)
  await writeFile(here(name), content)
}
