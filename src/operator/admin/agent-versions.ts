import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@agent-server/lib/errors.ts'
import { isMissing } from '@agent-server/lib/files.ts'
import { digestOf, type FileContent } from './edited-file.ts'

/** Earlier versions of the file that are kept; one more removes the oldest. */
const MAX_VERSIONS = 10
const VERSION_NAME = /^(\d{13})-([0-9a-f]{64})\.json$/

/** The replaced versions of a file, in a folder that is created with the first one. */
export class AgentVersions {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Latest first. */
  async list() {
    const names = await readdir(this.#directory).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    return names
      .toSorted()
      .reverse()
      .flatMap((name) => {
        const [, time, digest = ''] = VERSION_NAME.exec(name) ?? []
        if (!time) return []
        return [{ digest, replacedAt: new Date(Number(time)), file: join(this.#directory, name) }]
      })
  }

  /** Keeps a version. An identical text is kept only once, with its latest time. */
  async keep({ text, digest }: FileContent): Promise<void> {
    await mkdir(this.#directory, { recursive: true })
    const file = join(this.#directory, `${Date.now()}-${digest}.json`)
    await writeFile(file, text, { mode: 0o600, flush: true })
    const versions = (await this.list()).filter((version) => version.file !== file)
    const same = versions.filter((version) => version.digest === digest)
    const others = versions.filter((version) => version.digest !== digest)
    for (const version of [...same, ...others.slice(MAX_VERSIONS - 1)]) await rm(version.file)
  }

  /** Throws AppError `version_not_found`. */
  async read(digest: string): Promise<string> {
    const version = (await this.list()).find((one) => one.digest === digest)
    const text = version && (await readFile(version.file, 'utf8'))
    if (text !== undefined && digestOf(text) === digest) return text
    throw new AppError(
      'version_not_found',
      'There is no version with this digest, or it has been deleted',
    )
  }
}
