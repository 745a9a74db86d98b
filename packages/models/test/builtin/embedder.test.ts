import { copyFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { describeEmbedder } from '../../../../test/contracts/embedder.contract.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { createBuiltinEmbedder } from '../../src/builtin/embedder.ts'

const signal = new AbortController().signal
const warnings: string[] = []
const embedder = createBuiltinEmbedder({ log: { warn: (_, message) => warnings.push(message) } })
afterAll(() => embedder.close?.())

describeEmbedder('The built-in model', { create: async () => embedder })

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined) =>
  a?.reduce((sum, value, i) => sum + value * (b?.[i] ?? 0), 0) ?? 0

it('finds what is said in other words', async () => {
  const [car, doctor] = await embedder.embedDocuments(
    ['A car needs fuel and four wheels.', 'The physician sees patients in the morning.'],
    signal,
  )
  const question = await embedder.embedQuery('When can I meet a doctor?', signal)
  expect(cosine(question, doctor)).toBeGreaterThan(cosine(question, car) + 0.2)
})

it('computes nearly what 32-bit floats would', async () => {
  const [car, doctor] = await embedder.embedDocuments(
    ['A car needs fuel and four wheels.', 'The physician sees patients in the morning.'],
    signal,
  )
  const question = await embedder.embedQuery('When can I meet a doctor?', signal)
  expect(Math.abs(cosine(question, doctor) - 0.5312)).toBeLessThan(0.02)
  expect(Math.abs(cosine(question, car) + 0.0048)).toBeLessThan(0.02)
  expect(Math.abs(cosine(car, doctor) - 0.0179)).toBeLessThan(0.02)
})

it('gives the same vectors with 8 bits as with floats', async () => {
  const texts = [
    'A car needs fuel and four wheels.',
    'a boundary layer of a flat plate '.repeat(20),
  ]
  const both = [true, false].map((eightBits) => createBuiltinEmbedder({ eightBits }))
  const [first = [], second = []] = await Promise.all(
    both.map((each) => each.embedDocuments(texts, signal)),
  )
  for (const each of both) each.close?.()
  for (const [at] of texts.entries()) {
    expect(cosine(first[at], second[at])).toBeGreaterThan(0.999)
    expect(cosine(first[at], second[at])).toBeLessThan(0.999_999_9)
  }
})

it('reads a text to its end, beyond its window', async () => {
  const filler = 'The meeting was opened, and minutes were read. '.repeat(30)
  const [without, withOwls] = await embedder.embedDocuments(
    [filler, `${filler} ${'Owls hunt at night. '.repeat(30)}`],
    signal,
  )
  const question = await embedder.embedQuery('birds of prey', signal)
  expect(cosine(question, withOwls)).toBeGreaterThan(cosine(question, without) + 0.1)
})

const CHINESE = '图书馆每天早上九点开门,晚上六点关门。星期天不开放。请携带您的借书证。'

it.each([
  ['Chinese', CHINESE],
  ['Thai', 'ห้องสมุดเปิดเวลาเก้าโมงเช้า และปิดเวลาหกโมงเย็น'],
  ['Amharic', 'ቤተ መጻሕፍቱ ጠዋት በሦስት ሰዓት ይከፈታል'],
  ['Khmer', 'បណ្ណាល័យបើកនៅម៉ោងប្រាំបួនព្រឹក'],
  ['signs that mean nothing to it', '🙂🙃 🚀'],
])('refuses what it cannot read, and keeps working: %s', async (_name, text) => {
  const refusal = { kind: 'refused', positions: [0] }
  await expect(embedder.embedQuery(text, signal)).rejects.toMatchObject(refusal)
  await expect(embedder.embedDocuments([text], signal)).rejects.toMatchObject(refusal)
  expect(await embedder.embedQuery('owls', signal)).toHaveLength(384)
  expect(warnings).toEqual([])
})

it('says which of several texts it cannot read', async () => {
  const texts = ['Owls hunt.', CHINESE, 'Herons fish.', CHINESE]
  await expect(embedder.embedDocuments(texts, signal)).rejects.toMatchObject({ positions: [1, 3] })
})

it.each([
  ['a name in other letters', 'The library 图书馆 opens at nine in the morning.'],
  ['formulas', '∀x∈ℝ: x²≥0 ⇒ √(x²)=|x|'],
  ['letters that it knows, of another language', 'Библиотека открывается в девять утра.'],
])('reads a text with %s', async (_name, text) => {
  expect(await embedder.embedQuery(text, signal)).toHaveLength(384)
})

it('reads a question to the end of four windows, however long it is', async () => {
  const long = embedder.embedQuery('( '.repeat(360_000), signal)
  const whole = embedder.embedQuery('( '.repeat(4 * 254), signal)
  expect(cosine(await long, await whole)).toBeGreaterThan(0.999)
  const word = embedder.embedQuery('x'.repeat(720_000), signal)
  await expect(word).rejects.toMatchObject({ kind: 'refused' })
})

it('answers the next question after one that nobody waits for any longer', async () => {
  const owls = await embedder.embedQuery('owls', signal)
  const late = new AbortController()
  const asked = embedder.embedQuery('a long story of cars '.repeat(500), late.signal)
  late.abort(new Error('too late'))
  await expect(asked).rejects.toThrow('too late')
  expect(cosine(await embedder.embedQuery('owls', signal), owls)).toBeCloseTo(1, 4)
  expect(warnings).toEqual([])
})

it('answers a question before the documents that came first', async () => {
  const order: string[] = []
  const documents = embedder
    .embedDocuments(Array<string>(6).fill('a long story of cars '.repeat(40)), signal)
    .then(() => order.push('documents'))
  const question = embedder.embedQuery('owls', signal).then(() => order.push('question'))
  await Promise.all([documents, question])
  expect(order).toEqual(['question', 'documents'])
})

it('answers the question of one key before the many of another', async () => {
  const order: string[] = []
  const ask = (text: string, key: string) =>
    embedder.embedQuery(text, signal, key).then(() => order.push(key))
  const many = Array.from({ length: 16 }, () => ask('a long story of cars '.repeat(20), 'many'))
  await Promise.all([...many, ask('owls', 'few')])
  expect(order.indexOf('few')).toBeLessThan(3)
})

it('is started anew after it was ended, as when it had nothing to do', async () => {
  const ending = createBuiltinEmbedder({ idleMs: 0 })
  const [first, second] = [
    await ending.embedQuery('owls', signal),
    await ending.embedQuery('owls', signal),
  ]
  expect(cosine(first, second)).toBeCloseTo(1, 4)
  ending.close?.()
})

it('does not work with weights that are not those of its package', async () => {
  const directory = await temporaryDirectory()
  const { resolve } = createRequire(import.meta.url)
  for (const name of ['vocab.txt', 'SHA256SUMS'])
    await copyFile(resolve(`agent-server-minilm/${name}`), join(directory, name))
  await writeFile(join(directory, 'model.onnx'), 'other weights')
  const changed = createBuiltinEmbedder({ directory })
  await expect(changed.embedQuery('owls', signal)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('model.onnx does not match SHA256SUMS') },
  })
  changed.close?.()
})
