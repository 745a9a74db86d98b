// npm's `postinstall`: deletes the files of packages that nothing here reads, half of an installation. It runs on
// whatever Node.js is there, so it keeps to what Node 20 knows.
import { existsSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const { platform, arch } = process

/** Paths, from the package's name on. */
const UNREAD = [
  // Native parts for other platforms (288 MB of the built-in embedder), what they are built from, and their headers.
  new RegExp(`^onnxruntime-node/(script/|bin/(?!napi-v6/${platform}/${arch}/))`),
  new RegExp(`^usearch/prebuilds/(?!${platform}-[^/]*${arch}[^/]*/)`),
  /^usearch\/(c|cmake|cpp|include|numkong)\//,
  /^node-[^/]*\/(include|share)\//,
  // tesseract-core.ts loads one build, and the small model of a language.
  /^tesseract\.js-core\/tesseract-core(?!-simd-lstm\.(js|wasm)$)/,
  /^@tesseract\.js-data\/[^/]*\/4\.0\.0\//,
  // Viewers for browsers, bundles that are minified, and all fonts but those of signs, as browsers have the others.
  /^pdfjs-dist\/(legacy|web|image_decoders|iccs)\//,
  /^pdfjs-dist\/standard_fonts\/(?!Foxit(Dingbats|Symbol)\.pfb$|LICENSE_FOXIT$)/,
  /^pdfjs-dist\/build\/.*\.min\.mjs$/,
  // One vocabulary is read, of those for tokens.
  /^js-tiktoken\/dist\/(?!ranks\/cl100k_base\.(js|d\.ts)$)/,
  // Icons are read one by one.
  /^lucide\/dist\/(?!esm\/icons\/)/,
  /^highlight\.js\/(styles|scss)\//,
  /^temml\/(contrib\/|src\/|temml\.js$|dist\/(?!temml\.(mjs|d\.ts)$))/,
  /^@e965\/xlsx\/(dist\/|bin\/|bower\.json|xlsx(worker)?\.js$)/,
  /^@cantoo\/pdf-lib\/(dist\/[^/]*$|ts3\.4\/|cjs\/.*\.js$)/,
  /^@cantoo\/fontkit\/(src\/|dist\/(browser|fontkit\.umd))/,
  /^vega(-[^/]*)?\/build\/.*\.min\.js$/,
  // Fonts, tests and pages that are never opened, and packages for another runtime.
  /^(?:bintrees|fastify)\/(?:docs|examples|integration|test)\//,
  /^undici\/docs\//,
  /^bare-[^/]*\//,
  /^(?!.*(?:licen[cs]e|notice|copying)).*\.md$/i,
  /^@fontsource-variable\/inter\/(scss\/|[^/]*\.css$|files\/(?!.*-wght-normal\.woff2$))/,
  /^dejavu-fonts-ttf\/(ttf\/(?!DejaVuSans(-Bold)?\.ttf$)|.*\.txt$)/,
  /^@mixmark-io\/domino\/(test|\.yarn)\//,
  // Only debuggers read source maps, and Node.js loads no TypeScript from packages.
  /\.map$/,
  /(?<!\.d)\.[cm]?tsx?$/,
]
/** What only the web UI's files are made of, which the image has ready; their licences stay. */
const BUNDLED =
  /^(?!.*(?:licen[cs]e|notice|copying))(?:@esbuild|@fontsource-variable|@preact|@tanstack|dompurify|esbuild|highlight\.js|lucide|marked|preact|temml)\//i
/** What only a compiler reads, which is not there without the packages for development. */
const DECLARATIONS = /\.d\.[cm]?ts$/

/**
 * Deletes the files, and folders that this leaves empty. Links, such as those to workspaces, are not followed.
 * @param {string} packages
 * @param {boolean} isBundled whether the web UI's files are made already
 */
export function prunePackages(packages, isBundled = false) {
  const unread = [...UNREAD, ...(isBundled ? [BUNDLED] : [])]
  if (!existsSync(join(packages, 'typescript'))) unread.push(DECLARATIONS)
  prune(packages, '', (path) => unread.some((pattern) => pattern.test(path)))
}

/**
 * @param {string} folder
 * @param {string} path from the package's name on, with a slash at its end
 * @param {(path: string) => boolean} isUnread
 */
function prune(folder, path, isUnread) {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []
  for (const entry of entries) {
    const full = join(folder, entry.name)
    if (entry.name === 'node_modules') prune(full, '', isUnread)
    else if (entry.isDirectory()) prune(full, `${path}${entry.name}/`, isUnread)
    else if (isUnread(`${path}${entry.name}`)) unlinkSync(full)
  }
  if (entries.length > 0 && readdirSync(folder).length === 0) rmdirSync(folder)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = fileURLToPath(new URL('../node_modules', import.meta.url))
  prunePackages(packages, process.argv.includes('--bundled'))
}
