import { mkdir, readdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { SERVER_PACKAGE } from './packages.ts'
import { runProgram } from './run-program.ts'

/** One program without libraries of its own, and without what needs a network. */
const OPTIONS = [
  '-DCMAKE_BUILD_TYPE=Release',
  '-DBUILD_SHARED_LIBS=OFF',
  '-DGGML_NATIVE=ON',
  '-DGGML_OPENMP=OFF',
  '-DLLAMA_BUILD_TESTS=OFF',
  '-DLLAMA_BUILD_EXAMPLES=OFF',
  '-DLLAMA_BUILD_APP=OFF',
  '-DLLAMA_BUILD_UI=OFF',
  '-DLLAMA_USE_PREBUILT_UI=OFF',
  '-DLLAMA_OPENSSL=OFF',
]

/** Builds `llama-server` from the archive of its source in `directory`; answers where it is. */
export async function buildServer(directory: string): Promise<string> {
  const prefix = SERVER_PACKAGE.replaceAll('-', '_')
  const archive = (await readdir(directory)).find((name) => name.endsWith('.tar.gz')) ?? ''
  await runProgram('tar', ['xzf', archive], directory)
  const folder = (await readdir(directory)).find(
    (name) => name.startsWith(prefix) && !name.endsWith('.gz'),
  )
  const build = join(directory, 'build')
  await mkdir(build)
  const source = join(directory, folder ?? '', 'llama.cpp')
  await runProgram('cmake', ['-G', 'Ninja', source, ...OPTIONS], build)
  const jobs = `-j${availableParallelism()}`
  await runProgram('nice', ['ninja', jobs, 'llama-server'], build)
  return join(build, 'bin', 'llama-server')
}
