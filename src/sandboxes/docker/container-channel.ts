import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import type Docker from 'dockerode'
import type { SandboxChannel } from '../channel.ts'
import { isMissing } from './engine-failure.ts'

/** Characters of standard error that are kept for the log. */
const LAST_WORDS = 2_000

/** Creates and starts a container, joined to its streams. Leaves none behind where it fails. */
export async function startContainer(
  engine: Docker,
  options: Docker.ContainerCreateOptions,
): Promise<SandboxChannel> {
  const container = await engine.createContainer(options)
  try {
    const stream = await container.attach({
      ...{ stream: true, hijack: true },
      ...{ stdin: true, stdout: true, stderr: true },
    })
    await container.start()
    return join(engine, container, stream)
  } catch (error) {
    await removeContainer(container)
    throw error
  }
}

function join(
  engine: Docker,
  container: Docker.Container,
  stream: NodeJS.ReadWriteStream,
): SandboxChannel {
  const [output, errors] = [new PassThrough(), new PassThrough()]
  let words = ''
  errors.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-LAST_WORDS)
  })
  engine.modem.demuxStream(stream, output, errors)
  const ended = finished(stream, { writable: false }).then(
    () => words.trim() || 'the container has ended',
    (error) => `the connection to the container broke: ${error.message}`,
  )
  return {
    ...{ input: stream, output, ended },
    kill: () => removeContainer(container),
  }
}

/** Kills and removes it; resolves when it has gone, also where it went by itself. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.remove({ force: true })
  } catch (error) {
    if (isMissing(error)) return
    if (!isBeingRemoved(error)) throw error
    await container.wait({ condition: 'removed' }).catch((failure) => {
      if (!isMissing(failure)) throw failure
    })
  }
}

function isBeingRemoved(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 409
}
