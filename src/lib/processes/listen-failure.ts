const NO_SUCH_ADDRESS =
  'HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.'

/** What the operator can do if the server cannot listen. */
const REMEDIES: Record<string, string> = {
  EADDRINUSE: 'another server listens there. Set PORT to a free port.',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_ADDRESS,
  EACCES: 'this user may not listen there. Set PORT to a port above 1023.',
}

/** Why a server cannot listen, and what to do about it; undefined for other errors. */
export function explainListening(error: Error): string | undefined {
  if (!('code' in error && 'syscall' in error)) return undefined
  const remedy = REMEDIES[String(error.code)]
  const isOfListening = error.syscall === 'listen' || error.syscall === 'getaddrinfo'
  return remedy && isOfListening ? `${error.message}: ${remedy}` : undefined
}
