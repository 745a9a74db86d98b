import { hash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { exists } from '@agent-server/lib/files.ts'
import { readPdfFile } from './pdf-files.ts'
import { PREVIEW_KINDS, type PreviewKind, previewPage } from './previews.ts'

/** The URL path of the bundle's files. */
export const ASSET_PATH = '/ui/assets'
const ENTRY = 'main.tsx'
/** How the names of the files begin that the page loads; the others are loaded when they are needed. */
const FIRST = 'web-ui'
const PAGE = 'index.html'
const ICON = 'icon.svg'
/** The folder of the scripts of frames. */
const PREVIEWS = 'preview'
/** The folder of prebuilt files next to the sources, for the container image, which holds nothing else of `ui/`. */
const PREBUILT = 'dist'

const MEDIA_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
}

/** The server, which makes everything else private, runs as another user than the one who has built its image. */
const READABLE = 0o644
const ENTERED = 0o111

type Encoding = 'br' | 'gzip' | 'identity'

/** A file of the web UI in every encoding that it is sent in. */
export interface Asset {
  mediaType: string
  etag: string
  bodies: Record<Encoding, Buffer>
}

/** The page of a frame. */
export type Preview = Asset & { policy: string }

export interface Bundle {
  page: Asset
  preview(kind: PreviewKind): Promise<Preview>
  /** The file with this name, which includes a hash of its content or the version of its package. */
  asset(name: string): Promise<Asset | undefined>
}

/**
 * Returns a function that answers the web UI's files, built once, on the first call. After a failure the next call
 * tries again, since the source may have been fixed.
 */
export function createBundle(directory: string): () => Promise<Bundle> {
  let made: Promise<Bundle> | undefined
  return () => {
    made ??= load(directory).catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

/** Builds the files ahead of time, for an installation without the sources. */
export async function prebuild(directory: string): Promise<void> {
  const target = join(directory, PREBUILT)
  await mkdir(target, { recursive: true })
  for (const [name, content] of await bundle(directory)) {
    await writeFile(join(target, name), content)
    await chmod(join(target, name), READABLE)
  }
  await chmod(target, READABLE | ENTERED)
}

async function load(directory: string): Promise<Bundle> {
  const files = (await exists(join(directory, ENTRY)))
    ? await bundle(directory)
    : await readFiles(join(directory, PREBUILT))
  const page = files.get(PAGE)
  if (!page) throw new Error(`${directory} holds no ${PAGE}`)
  files.delete(PAGE)
  const packed = new Map<string, Promise<Asset>>()
  const previews = new Map<PreviewKind, Promise<Preview>>()
  return {
    page: await pack(PAGE, page),
    preview(kind) {
      const made = previews.get(kind) ?? packPreview(kind, files.get(scriptOf(kind)))
      previews.set(kind, made)
      // The next call tries again.
      made.catch(() => previews.delete(kind))
      return made
    },
    async asset(name) {
      const cached = packed.get(name)
      if (cached) return cached
      const content = files.get(name) ?? (await readPdfFile(name))
      if (!content) return undefined
      const asset = pack(name, content)
      packed.set(name, asset)
      asset.catch(() => packed.delete(name))
      return asset
    },
  }
}

/** The script of the page of a frame. */
const scriptOf = (kind: PreviewKind) => `preview-${kind}.js`

async function packPreview(kind: PreviewKind, script: Buffer | undefined): Promise<Preview> {
  if (!script) throw new Error(`There is no ${scriptOf(kind)}`)
  const { content, policy } = await previewPage(kind, script)
  return { ...(await pack(PAGE, content)), policy }
}

async function readFiles(directory: string): Promise<Map<string, Buffer>> {
  const names = await readdir(directory)
  const entries = names.map(async (name) => [name, await readFile(join(directory, name))] as const)
  return new Map(await Promise.all(entries))
}

const SETTINGS = {
  write: false,
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'silent',
} as const

/**
 * Builds the page, its script, its style sheet and its icon; scripts that are loaded when they are needed; and those of
 * the pages of frames.
 */
async function bundle(directory: string): Promise<Map<string, Buffer>> {
  // Imported here: a server whose web UI is never opened does not need it.
  const { build, stop } = await import('esbuild')
  try {
    const { outputFiles } = await build({
      entryPoints: { [FIRST]: join(directory, ENTRY) },
      outdir: join(directory, PREBUILT),
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      splitting: true,
      format: 'esm',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      loader: { '.woff2': 'file' },
      ...SETTINGS,
    })
    const frames = await build({
      entryPoints: PREVIEW_KINDS.map((kind) => ({
        in: join(directory, PREVIEWS, `${kind}.ts`),
        out: scriptOf(kind).replace(/\.js$/, ''),
      })),
      ...SETTINGS,
      outdir: join(directory, PREBUILT),
      format: 'iife',
    })
    const files = new Map(
      [...outputFiles, ...frames.outputFiles].map(({ path, contents }) => [
        path.replace(/^.*[\\/]/, ''),
        Buffer.from(contents),
      ]),
    )
    const icon = await readFile(join(directory, ICON))
    files.set(`${FIRST}-${digest(icon)}.svg`, icon)
    const page = await readFile(join(directory, PAGE), 'utf8')
    return files.set(PAGE, Buffer.from(withAssets(page, [...files.keys()])))
  } finally {
    // esbuild keeps a process for further builds, and there are none.
    await stop()
  }
}

/** Replaces `{{.js}}` in the page by the URL of its file with that extension. */
function withAssets(page: string, names: readonly string[]): string {
  return page.replace(/\{\{(\.\w+)\}\}/g, (_, kind: string) => {
    const name = names.find((one) => one.startsWith(`${FIRST}-`) && extname(one) === kind)
    return `${ASSET_PATH}/${name}`
  })
}

const packBrotli = promisify(brotliCompress)
const packGzip = promisify(gzip)
/** Nearly as small as with the highest quality, in a tenth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

async function pack(name: string, content: Buffer): Promise<Asset> {
  const [br, gz] = await Promise.all([packBrotli(content, BROTLI), packGzip(content)])
  return {
    mediaType: MEDIA_TYPES[extname(name)] ?? 'application/octet-stream',
    etag: `"${digest(content)}"`,
    bodies: { br, gzip: gz, identity: content },
  }
}

function digest(content: Buffer): string {
  return hash('sha256', content, 'hex').slice(0, 16)
}
