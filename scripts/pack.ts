import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { z } from 'zod'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..')
const PACK_MS = 120_000
/** What the server reads besides its program. */
const FILES = [
  'skills',
  '.env.example',
  'agent.schema.json',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
]
/** Folders whose modules become JavaScript, as do the server's own packages: Node.js loads no TypeScript from node_modules. */
const PROGRAM = ['src', 'packages/client/src']
/** A module of the same package, wherever its path is written: in an import, or as the entry of a thread or process. */
const MODULE_PATH = /(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g

const Manifest = z.looseObject({
  version: z.string(),
  dependencies: z.record(z.string(), z.string()),
})
const Versioned = z.object({ version: z.string() })

const readJSON = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(join(ROOT, path), 'utf8'))

/** A module of one of the server's own packages, which are no packages any more where the server is one. */
const OWN_MODULE = /(['"])@agent-server\/([\w-]+)(\/[^'"\n]+)?\1/g
const OwnManifest = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()).default({}),
})

/** The manifests of the server's own packages, by their folders in packages/. */
export async function ownManifests() {
  const manifests = new Map<string, z.output<typeof OwnManifest>>()
  for await (const path of glob('packages/*/package.json', { cwd: ROOT })) {
    const own = OwnManifest.safeParse(await readJSON(path))
    if (own.data?.name.startsWith('@agent-server/'))
      manifests.set(basename(dirname(path)), own.data)
  }
  return manifests
}

type OwnManifests = Awaited<ReturnType<typeof ownManifests>>

/** The path from the root that `@agent-server/<name><subpath>` means, as the package's `exports` tell it. */
function ownModules(manifests: OwnManifests): (name: string, subpath: string) => string {
  return (name, subpath) => {
    const { exports = {} } = manifests.get(name) ?? {}
    const exported = exports[`.${subpath}`] ?? exports['./*']
    if (exported === undefined) throw new Error(`@agent-server/${name} exports no .${subpath}`)
    return join('packages', name, exported.replace('*', subpath.slice(1)))
  }
}

/** The module without types, and with the paths of other modules: every line stays where it is in the source. */
function toJavaScript(text: string, path: string, own: (name: string, subpath: string) => string) {
  const toOwn = (_specifier: string, quote: string, name: string, subpath = '') => {
    const module = relative(dirname(path), own(name, subpath))
    return `${quote}${module.startsWith('.') ? module : `./${module}`}${quote}`
  }
  return stripTypeScriptTypes(text).replace(OWN_MODULE, toOwn).replace(MODULE_PATH, '$1$2.js$1')
}

/** Writes the server's package to the folder, laid out as the repository. */
async function stage(folder: string): Promise<void> {
  const manifests = await ownManifests()
  const own = ownModules(manifests)
  const packages = Array.from(manifests.keys(), (name) => `packages/${name}/src`)
  for (const part of [...PROGRAM, ...packages]) {
    for await (const path of glob(`${part}/**/*.{ts,js,cjs,json,sql,py}`, { cwd: ROOT })) {
      const isProgram = /\.(?:ts|cjs)$/.test(path)
      const target = join(folder, path.replace(/\.ts$/, '.js'))
      await mkdir(dirname(target), { recursive: true })
      const text = await readFile(join(ROOT, path), 'utf8')
      await writeFile(target, isProgram ? toJavaScript(text, path, own) : text)
    }
  }
  for (const name of FILES) await cp(join(ROOT, name), join(folder, name), { recursive: true })
  await run(process.execPath, ['src/main.ts', 'prebuild-web-ui'], { cwd: ROOT, timeout: PACK_MS })
  await cp(join(ROOT, 'ui/dist'), join(folder, 'ui/dist'), { recursive: true })
  await writeFile(
    join(folder, 'package.json'),
    `${JSON.stringify(await publishedManifest(manifests), null, 2)}\n`,
  )
}

/** What of package.json concerns those who install it, with the dependencies of the server's own packages. */
export async function publishedManifest(own: OwnManifests) {
  const whole = Manifest.parse(await readJSON('package.json'))
  const dependencies = [whole, ...own.values()].flatMap((each) => Object.entries(each.dependencies))
  const { version } = Versioned.parse(await readJSON('packages/embedders/minilm/package.json'))
  const { name, description, license, type, engines, peerDependencies, peerDependenciesMeta } =
    whole
  return {
    name,
    version: whole.version,
    description,
    license,
    // Only in the workflow of releases, which knows it.
    repository: whole.repository,
    type,
    engines,
    bin: { 'agent-server': 'src/bin.cjs' },
    scripts: { preinstall: 'node src/spare-download.cjs' },
    dependencies: { ...Object.fromEntries(dependencies), 'agent-server-minilm': version },
    peerDependencies,
    peerDependenciesMeta,
  }
}

async function pack(folder: string, target: string): Promise<void> {
  await run('npm', ['pack', '--pack-destination', target], { cwd: folder, timeout: PACK_MS })
}

/** The Python client's; needs Python with pip. */
async function buildWheel(target: string): Promise<void> {
  const parameters = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', target]
  await run('python3', [...parameters, './packages/client-python'], { cwd: ROOT, timeout: PACK_MS })
}

const Lock = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ dev: z.boolean().default(false) })),
})

/**
 * What the server's package depends on, as CycloneDX: an SBOM. npm makes it of a lock without what is for development,
 * as `--omit=dev` would leave out what is for both.
 */
async function billOfMaterials(): Promise<string> {
  const lock = Lock.parse(await readJSON('package-lock.json'))
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-sbom-'))
  try {
    // npm names what it describes by its folder.
    const project = join(folder, 'agent-server')
    await mkdir(project)
    const used = Object.entries(lock.packages).filter(([, { dev }]) => !dev)
    const packages = Object.fromEntries(
      used.map(([path, { devDependencies: _, ...its }]) => [path, its]),
    )
    const { devDependencies: _, ...manifest } = Manifest.parse(await readJSON('package.json'))
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
    await writeFile(join(project, 'package-lock.json'), JSON.stringify({ ...lock, packages }))
    const parameters = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
    const { stdout } = await run('npm', parameters, { cwd: project, maxBuffer: 2 ** 26 })
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Packs the server, its clients and its embedding model into the new folder `target`, with an SBOM and checksums. */
async function packAll(target: string, withWheel: boolean): Promise<string[]> {
  const staged = await mkdtemp(join(tmpdir(), 'agent-server-pack-'))
  try {
    await stage(staged)
    await mkdir(dirname(target), { recursive: true })
    // Fails if it exists, so that the checksums are of this run's files only.
    await mkdir(target)
    for (const folder of [
      staged,
      join(ROOT, 'packages/client'),
      join(ROOT, 'packages/embedders/minilm'),
    ])
      await pack(folder, target)
    if (withWheel) await buildWheel(target)
    await writeFile(join(target, 'agent-server.cdx.json'), await billOfMaterials())
    const names = (await readdir(target)).toSorted()
    await writeFile(join(target, 'SHA256SUMS'), await checksums(target, names))
    return names
  } finally {
    await rm(staged, { recursive: true })
  }
}

/** As `sha256sum --check` reads them. */
async function checksums(folder: string, names: readonly string[]): Promise<string> {
  const lines: string[] = []
  for (const name of names) {
    const hash = createHash('sha256').update(await readFile(join(folder, name)))
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  return lines.join('')
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      to: { type: 'string', default: 'packed' },
      wheel: { type: 'boolean', default: false },
    },
  })
  const target = resolve(values.to)
  for (const name of await packAll(target, values.wheel)) console.log(join(target, name))
}
