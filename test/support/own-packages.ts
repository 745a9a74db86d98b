import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { ROOT } from './source-tree.ts'

const Versions = z.record(z.string(), z.string()).default({})
const Manifest = z.object({
  name: z.string(),
  private: z.boolean().default(false),
  exports: z.record(z.string(), z.string()).default({}),
  scripts: Versions,
  dependencies: Versions,
  devDependencies: Versions,
})

export interface OwnPackage extends z.output<typeof Manifest> {
  /** From the repository's root. */
  folder: string
}

/** The packages that the server is made of. */
export const ownPackages: readonly OwnPackage[] = globSync('packages/*/package.json', { cwd: ROOT })
  .toSorted()
  .map((path) => ({
    folder: dirname(path),
    manifest: JSON.parse(readFileSync(new URL(path, ROOT), 'utf8')),
  }))
  .filter(({ manifest }) => manifest.name.startsWith('@agent-server/'))
  .map(({ folder, manifest }) => ({ folder, ...Manifest.parse(manifest) }))
