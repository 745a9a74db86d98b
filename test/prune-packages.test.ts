import { existsSync, globSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { prunePackages } from '../src/prune-packages.ts'
import { temporaryDirectory } from './support/temporary-files.ts'

const RUNTIME = 'onnxruntime-node/bin/napi-v6'
const HERE = `${process.platform}/${process.arch}`
const READ = [
  `${RUNTIME}/${HERE}/onnxruntime_binding.node`,
  `usearch/prebuilds/${process.platform}-${process.arch}/usearch.node`,
  'tesseract.js-core/tesseract-core-simd-lstm.js',
  'tesseract.js-core/tesseract-core-simd-lstm.wasm',
  'pdfjs-dist/build/pdf.mjs',
  'pdfjs-dist/wasm/jbig2.wasm',
  'zod/index.js',
  'zod/LICENSE',
  '@fastify/swagger-ui/static/index.css',
]
const UNREAD = [
  `${RUNTIME}/beos/mips/onnxruntime_binding.node`,
  'usearch/prebuilds/beos-mips/usearch.node',
  'tesseract.js-core/tesseract-core.wasm',
  'tesseract.js-core/tesseract-core-simd-lstm.wasm.js',
  'tesseract.js-core/tesseract-core-relaxedsimd-lstm.wasm',
  'pdfjs-dist/legacy/build/pdf.mjs',
  'pdfjs-dist/build/pdf.min.mjs',
  'zod/index.d.ts',
  'zod/index.d.cts',
  'zod/index.js.map',
  '@fastify/swagger-ui/static/index.css.map',
  'a/node_modules/b/index.mjs.map',
]

async function installed(paths: readonly string[]): Promise<string> {
  const directory = await temporaryDirectory()
  for (const path of paths) {
    const file = join(directory, 'node_modules', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '')
  }
  return directory
}

it('deletes from the packages what the server never reads, and nothing else', async () => {
  const directory = await installed([...READ, ...UNREAD])
  prunePackages(directory)
  prunePackages(directory)
  const left = READ.filter((path) => existsSync(join(directory, 'node_modules', path)))
  expect(left).toEqual(READ)
  const gone = UNREAD.filter((path) => !existsSync(join(directory, 'node_modules', path)))
  expect(gone).toEqual(UNREAD)
})

it('leaves an installation for development as it is, and says what to do', async () => {
  const paths = [...UNREAD, 'typescript/package.json']
  const directory = await installed(paths)
  expect(() => prunePackages(directory)).toThrow(/npm ci --omit=dev/)
  const files = globSync('**/*', { cwd: join(directory, 'node_modules'), withFileTypes: true })
  expect(files.filter((entry) => entry.isFile())).toHaveLength(paths.length)
})
