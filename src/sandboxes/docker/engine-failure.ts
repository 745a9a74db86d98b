import { AppError } from '../../errors.ts'

/** What an operator can do about an engine that does not do as it was asked. */
export function explainEngineFailure(error: unknown, image: string): AppError {
  if (error instanceof AppError) return error
  return new AppError('sandbox_unavailable', messageFor(error, image), { cause: error })
}

function messageFor(error: unknown, image: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
      return 'No container engine answers: start it, or set DOCKER_HOST'
    case 'EACCES':
      return 'The container engine may not be used by this user: add it to the group docker'
  }
  if (isMissing(error)) {
    return `The engine has no image ${image}: docker build --tag ${image} sandbox-image`
  }
  return 'The container engine does not start a sandbox; see the log'
}

/** Whether the engine says that there is no such thing. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 404
}
