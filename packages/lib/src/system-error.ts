/** The code of an error of Node.js or of the system, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const NO_SUCH_ADDRESS =
  'HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.'

const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another server is listening there. Set PORT to a free port.',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_ADDRESS,
  EACCES: 'this user is not allowed to listen there. Set PORT to a port above 1023.',
}

/** Why a server cannot listen, and what to do about it; undefined for other errors. */
export function explainListening(error: Error): string | undefined {
  const isOfListening =
    'syscall' in error && (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
  const remedy = LISTENING[codeOf(error) ?? '']
  return remedy && isOfListening ? `${error.message}: ${remedy}` : undefined
}

const PATH: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not inside a folder',
  EISDIR: 'is a folder',
  EACCES: 'cannot be opened by this user',
  EROFS: 'is on a disk that cannot be written',
  ENOSPC: 'is on a full disk',
}

/** Explains a failed file system call to whoever named the path; undefined for any other error. */
export function explainPath(error: unknown): string | undefined {
  if (!(error instanceof Error && 'path' in error)) return undefined
  const wrong = PATH[codeOf(error) ?? '']
  return wrong && `${error.path} ${wrong}`
}
