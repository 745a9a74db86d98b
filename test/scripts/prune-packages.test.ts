import { existsSync, readdirSync } from 'node:fs'
import { glob, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { prunePackages } from '../../scripts/prune-packages.mjs'
import { temporaryDirectory } from '../support/temporary-files.ts'

const RUNTIME = 'onnxruntime-node/bin/napi-v6'
const HERE = `${process.platform}/${process.arch}`
const READ = [
  `${RUNTIME}/${HERE}/onnxruntime_binding.node`,
  `usearch/prebuilds/${process.platform}-${process.arch}/usearch.node`,
  'tesseract.js-core/tesseract-core-simd-lstm.js',
  'tesseract.js-core/tesseract-core-simd-lstm.wasm',
  '@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz',
  'pdfjs-dist/build/pdf.mjs',
  'pdfjs-dist/build/pdf.worker.mjs',
  'pdfjs-dist/wasm/jbig2.wasm',
  'pdfjs-dist/cmaps/UniGB-UCS2-H.bcmap',
  'pdfjs-dist/standard_fonts/FoxitDingbats.pfb',
  'js-tiktoken/dist/ranks/cl100k_base.js',
  'highlight.js/es/languages/json.js',
  'temml/dist/temml.mjs',
  '@cantoo/pdf-lib/es/index.js',
  '@cantoo/pdf-lib/dist/upng/index.mjs',
  'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf',
  'zod/index.js',
  'zod/LICENSE',
  'marked/LICENSE.md',
  '@fastify/swagger-ui/static/index.css',
]
const UNREAD = [
  `${RUNTIME}/beos/mips/onnxruntime_binding.node`,
  'usearch/prebuilds/beos-mips/usearch.node',
  'usearch/numkong/probes/probe.js',
  'tesseract.js-core/tesseract-core.wasm',
  'tesseract.js-core/tesseract-core-simd-lstm.wasm.js',
  'tesseract.js-core/tesseract-core-relaxedsimd-lstm.wasm',
  '@tesseract.js-data/eng/4.0.0/eng.traineddata.gz',
  'pdfjs-dist/legacy/build/pdf.mjs',
  'pdfjs-dist/build/pdf.min.mjs',
  'pdfjs-dist/standard_fonts/FoxitSerif.pfb',
  'js-tiktoken/dist/ranks/o200k_base.js',
  'highlight.js/styles/default.css',
  'temml/dist/temml.min.js',
  '@cantoo/pdf-lib/dist/pdf-lib.esm.js',
  'dejavu-fonts-ttf/ttf/DejaVuSerif.ttf',
  'node/node_modules/node-beos-mips/include/node/node.h',
  'zod/index.js.map',
  'zod/src/index.ts',
  '@fastify/swagger-ui/static/index.css.map',
  'a/node_modules/b/index.mjs.map',
  'fastify/test/hooks.test.js',
  'bare-fs/index.js',
  'zod/README.md',
  '@preact/signals/CHANGELOG.md',
]
const DECLARATIONS = ['zod/index.d.ts', 'zod/index.d.cts']

async function installed(paths: readonly string[]): Promise<string> {
  const packages = join(await temporaryDirectory(), 'node_modules')
  for (const path of paths) {
    const file = join(packages, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '')
  }
  return packages
}

const leftOf = (packages: string, paths: readonly string[]) =>
  paths.filter((path) => existsSync(join(packages, path)))

it('deletes from the packages what the server never reads, and nothing else', async () => {
  const packages = await installed([...READ, ...UNREAD, ...DECLARATIONS])
  prunePackages(packages)
  prunePackages(packages)
  expect(leftOf(packages, READ)).toEqual(READ)
  expect(leftOf(packages, [...UNREAD, ...DECLARATIONS])).toEqual([])
  expect(existsSync(join(packages, 'pdfjs-dist/legacy'))).toBe(false)
})

it('deletes what only the web UI is made of where that is ready, and nothing that the server imports', async () => {
  const packages = await installed([...READ, 'lucide/dist/esm/icons/x.mjs', '@preact/signals/a.js'])
  prunePackages(packages, true)
  expect(readdirSync(packages)).not.toContain('lucide')
  expect(readdirSync(packages)).not.toContain('@preact')
  // Licences stay.
  const kept = READ.filter((path) => !/^(?:highlight\.js|marked|temml)\/(?!licen[cs]e)/i.test(path))
  expect(leftOf(packages, READ)).toEqual(kept)

  const imported = new Set<string>()
  for await (const path of glob('{src,packages/*/src,packages/embedders/*/src}/**/*.{ts,cjs}')) {
    const text = await readFile(path, 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:from|import|require\()\s*'([^'.][^']*)'/g)) {
      // Only to make the files of the web UI, which the image has.
      if (name !== 'esbuild') imported.add(`${name}/index.js`)
    }
  }
  expect(imported.size).toBeGreaterThan(50)
  const all = await installed([...imported].filter((name) => !name.startsWith('node:')))
  const before = [...imported].filter((path) => existsSync(join(all, path)))
  prunePackages(all, true)
  expect(leftOf(all, before)).toEqual(before)
})

it('keeps declarations where a compiler is installed', async () => {
  const packages = await installed([...READ, ...UNREAD, ...DECLARATIONS, 'typescript/package.json'])
  prunePackages(packages)
  expect(leftOf(packages, DECLARATIONS)).toEqual(DECLARATIONS)
  expect(leftOf(packages, UNREAD)).toEqual([])
})

it('follows no link out of the packages', async () => {
  const elsewhere = await temporaryDirectory()
  await writeFile(join(elsewhere, 'own.ts'), '')
  const packages = await installed(READ)
  await symlink(elsewhere, join(packages, 'own'))
  prunePackages(packages)
  expect(existsSync(join(elsewhere, 'own.ts'))).toBe(true)
})

it('passes over an installation without packages', async () => {
  expect(() => prunePackages(join('/nowhere', 'node_modules'))).not.toThrow()
})
